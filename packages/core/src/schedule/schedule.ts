import type { Duration } from '../duration.ts'
import type { Fault } from '../errors/cronce-error.ts'
import { checkCron, checkEvery, checkSchedule, raise, toFaults } from './schedule-faults.ts'

/** What a fixed local time does on the night on which it does not exist. */
export type MissingTime = 'at-gap-end' | 'skip' | 'shift'

/** Which passes of a local time that comes twice run. */
export type RepeatedTime = 'first' | 'second' | 'both'

/** A cron expression in a zone. Plain data: stored and compared as it is. */
export interface CronSchedule {
  readonly kind: 'cron'
  /** The expression, its white space reduced to single blanks. */
  readonly expression: string
  /** A name of the tz database, or UTC. */
  readonly zone: string
  readonly missingTime: MissingTime
  readonly repeatedTime: RepeatedTime
  /** Whether the expression has six fields, seconds first. */
  readonly seconds: boolean
  /** Window of the spread in milliseconds, whole seconds; 0 is none. */
  readonly spreadMs: number
}

/** An interval anchored to the epoch in UTC. Plain data. */
export interface EverySchedule {
  readonly kind: 'every'
  /** Whole seconds, in milliseconds. */
  readonly periodMs: number
  /** Less than the period; whole seconds, in milliseconds. */
  readonly offsetMs: number
  /** Window of the spread in milliseconds, whole seconds; 0 is none. */
  readonly spreadMs: number
}

export type Schedule = CronSchedule | EverySchedule

export interface CronOptions {
  /** Default `UTC`, whatever the zone of the host. */
  readonly zone?: string
  /** Default `at-gap-end`: at the first instant after the jump. */
  readonly missingTime?: MissingTime
  /** Default `first`. */
  readonly repeatedTime?: RepeatedTime
  /** Default false: five fields. True: six, seconds first. */
  readonly seconds?: boolean
  /** Default none. Each job starts at a stable place of its own in this window after the slot; at most a day. */
  readonly spread?: Duration
}

export interface EveryOptions {
  /** Default 0: slots at whole multiples of the period since 1970-01-01T00:00:00Z. Less than the period. */
  readonly offset?: Duration
  /** Default none. At most the period. */
  readonly spread?: Duration
}

/**
 * A schedule from a cron expression: five fields (minute hour day month weekday), or a nickname such as `@daily`.
 * The rules, daylight saving included, are in `docs/schedules.md`.
 *
 * @throws CronceError CRONCE_SCHEDULE_FIELDS, _TOKEN, _NICKNAME, _NEVER, _ZONE, _OPTION or _VALUE; CRONCE_SCHEDULE_INVALID where there
 *   are several faults. `faults` has them all.
 * @example cron('30 2 * * *', { zone: 'Europe/Berlin', missingTime: 'skip' })
 */
export function cron(expression: string, options: CronOptions = {}): CronSchedule {
  const { value, faults } = checkCron(expression, options)
  if (value === undefined) throw raise(faults)
  return Object.freeze(value)
}

/**
 * A schedule of one slot per period, at whole multiples of the period since the epoch (UTC) plus `offset`.
 *
 * @param period at least one second, whole seconds: `"15m"` or milliseconds.
 * @throws CronceError CRONCE_SCHEDULE_VALUE or CRONCE_SCHEDULE_OPTION; CRONCE_SCHEDULE_INVALID where there are several faults.
 * @example every('15m', { offset: '5m' }) // 00:05, 00:20, ...
 */
export function every(period: Duration, options: EveryOptions = {}): EverySchedule {
  const { value, faults } = checkEvery(period, options)
  if (value === undefined) throw raise(faults)
  return Object.freeze(value)
}

/** Every fault of a value that should be a {@link Schedule}, such as a stored row. Empty for a good one; never throws. */
export function scheduleFaults(input: unknown): readonly Fault[] {
  return toFaults(checkSchedule(input))
}
