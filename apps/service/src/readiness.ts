import type { TriggerHealth } from '@cronce/trigger'

export interface ReadinessFacts {
  readonly health: Pick<TriggerHealth, 'state' | 'lastReachedAt' | 'failures'>
  readonly now: number
  /** A trigger that has not reached the store for this long has stalled, ms. */
  readonly stalledAfterMs: number
}

export type Readiness = { readonly status: 'ready' } | { readonly status: 'not-ready'; readonly reason: string }

/** Whether this replica would fire a slot that came due now. */
export function readinessOf({ health, now, stalledAfterMs }: ReadinessFacts): Readiness {
  const { state, lastReachedAt, failures } = health
  if (state !== 'running') return notReady(`the trigger is ${state}`)
  if (lastReachedAt === undefined) return notReady('the trigger has not ticked yet')
  if (failures > 0) return notReady(`Redis is out of reach, ${failures} tries`)
  const silentMs = now - lastReachedAt
  return silentMs > stalledAfterMs
    ? notReady(`the trigger has stalled, last tick ${silentMs} ms ago`)
    : { status: 'ready' }
}

function notReady(reason: string): Readiness {
  return { status: 'not-ready', reason }
}
