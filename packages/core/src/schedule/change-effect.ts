import type { CompiledCron } from './compiled.ts'
import { nextLocal } from './local-times.ts'
import type { ZoneChange } from './zone-clock.ts'

/** What a change of a zone's clocks means for a schedule. Local times in seconds on the wall clock, instants in epoch seconds. */
export interface ChangeEffect {
  readonly kind: 'missing' | 'repeated'
  readonly change: ZoneChange
  /** The matching local times that do not exist, or come twice, that day: not none. In order; at most {@link MOST_LISTED}. */
  readonly locals: readonly number[]
  readonly count: number
}

/** Nobody reads a longer list; the count is exact. */
const MOST_LISTED = 100

/** The effect of a change, or undefined where it touches no matching local time. */
export function changeEffect({ plan }: CompiledCron, change: ZoneChange): ChangeEffect | undefined {
  const isMissing = change.after > change.before
  const from = change.at + Math.min(change.before, change.after)
  const until = change.at + Math.max(change.before, change.after)
  const locals: number[] = []
  let count = 0
  for (let local = nextLocal(plan, from); local < until; local = nextLocal(plan, local + 1)) {
    if (locals.length < MOST_LISTED) locals.push(local)
    count += 1
  }
  return count === 0 ? undefined : { kind: isMissing ? 'missing' : 'repeated', change, locals, count }
}

/** Whether a change by whole hours leaves a schedule's rhythm alone: it follows real time and every hour is alike to it. */
export function keepsRhythm({ plan }: CompiledCron, { before, after }: ZoneChange): boolean {
  return plan.isIntervalLike && plan.hours.count === 24 && (after - before) % 3600 === 0
}
