import { CronceError } from '../errors/cronce-error.ts'
import { FIRST_SECOND, LAST_SECOND } from './civil.ts'
import type { EverySchedule } from './schedule.ts'

/** The first slot that is not before `at` (epoch seconds); Infinity where there is none. */
export function nextEvery(schedule: EverySchedule, at: number): number {
  const { period, offset } = inSeconds(schedule)
  const slot = Math.ceil((Math.max(at, FIRST_SECOND) - offset) / period) * period + offset
  return slot <= LAST_SECOND ? slot : Number.POSITIVE_INFINITY
}

/** The last slot that is not after `at` (epoch seconds); -Infinity where there is none. */
export function lastEvery(schedule: EverySchedule, at: number): number {
  const { period, offset } = inSeconds(schedule)
  const slot = Math.floor((Math.min(at, LAST_SECOND) - offset) / period) * period + offset
  return slot >= FIRST_SECOND ? slot : Number.NEGATIVE_INFINITY
}

/** How many slots there are from `from` up to, not including, `until` (epoch seconds). */
export function countEvery(schedule: EverySchedule, from: number, until: number): number {
  const { period } = inSeconds(schedule)
  const first = nextEvery(schedule, from)
  const last = lastEvery(schedule, until - 1)
  return Number.isFinite(first) && last >= first ? (last - first) / period + 1 : 0
}

function inSeconds(schedule: EverySchedule): { period: number; offset: number } {
  const period = schedule.periodMs / 1000
  // A stored row that was not checked: a step of nothing, or back, would never arrive.
  if (!(period >= 1)) {
    const fields = { path: 'periodMs', expected: 'at least 1000', got: String(schedule.periodMs) }
    throw new CronceError('CRONCE_SCHEDULE_VALUE', fields)
  }
  return { period, offset: schedule.offsetMs / 1000 }
}
