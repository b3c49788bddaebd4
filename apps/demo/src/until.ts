import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '@cronce/core'

export interface UntilOptions {
  readonly clock: Clock
  readonly withinMs: number
  readonly everyMs: number
  /** Ends the wait. */
  readonly signal: AbortSignal
}

/** Looks at a condition until it holds. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  { clock, withinMs, everyMs, signal }: UntilOptions,
): Promise<'held' | 'late' | 'aborted'> {
  const deadlineAt = clock.now() + withinMs
  while (!signal.aborted) {
    if (await condition()) return 'held'
    if (clock.now() >= deadlineAt) return 'late'
    await delay(everyMs, undefined, { signal }).catch(() => undefined)
  }
  return 'aborted'
}
