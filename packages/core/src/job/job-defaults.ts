import type { Backoff } from '../run/retry-delay.ts'
import type { CatchUp, OverlapPolicy } from './job-definition.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** `catchUp`: after an outage run every slot of the last hour, at most the 10 newest. */
export const DEFAULT_CATCH_UP: CatchUp = Object.freeze({ mode: 'late', withinMs: HOUR_MS, atMost: 10 })

/** `overlap`: a slot that comes due while the run before it has not ended is recorded as skipped. With `enqueue`: `allow`. */
export const DEFAULT_OVERLAP: OverlapPolicy = 'skip'

/** `tolerance.start`: 5 minutes, or less where {@link defaultStartToleranceMs} says so. */
export const DEFAULT_START_TOLERANCE_MS = 5 * MINUTE_MS

/** `tolerance.finish`: 1 hour, or `tolerance.start` + `timeout` where that is longer. */
export const DEFAULT_FINISH_TOLERANCE_MS = HOUR_MS

/** `chunk.size`: entities in one queue job. */
export const DEFAULT_CHUNK_SIZE = 100

/** `chunk.concurrency`: entities of one chunk that run at the same time. */
export const DEFAULT_CHUNK_CONCURRENCY = 10

/** `retry.attempts`: how often an entity is tried before it becomes a dead letter, the first time included. */
export const DEFAULT_ATTEMPTS = 3

/** `retry.backoff`: 1 second, doubled after every attempt, at most 10 minutes, half of it left to chance. */
export const DEFAULT_BACKOFF: Backoff = Object.freeze({
  type: 'exponential',
  delayMs: SECOND_MS,
  capMs: 10 * MINUTE_MS,
  jitter: 0.5,
})

/** `timeout`: 1 minute for one attempt of one entity. */
export const DEFAULT_TIMEOUT_MS = MINUTE_MS

/** `queue` */
export const DEFAULT_QUEUE = 'default'

/** `version` */
export const DEFAULT_VERSION = 1

/** `enqueue.prefix`: BullMQ's own default. */
export const DEFAULT_ENQUEUE_PREFIX = 'bull'

/** The longest duration of any field: 366 days. Catches seconds written where milliseconds are meant. */
export const LONGEST_DURATION_MS = 366 * DAY_MS

/**
 * The longest `timeout`: 1 day. It may be longer than every lease and lock, which are renewed while the attempt is
 * current; but a Node timer beyond 2^31 - 1 ms (24.8 days) would fire at once.
 */
export const LONGEST_TIMEOUT_MS = DAY_MS

/** The most `chunk.size` and `chunk.concurrency`: one script settles a chunk, and must stay well under 100 ms. */
export const MOST_CHUNK_ENTITIES = 1_000

/** The most `limit.concurrency`: each start of a chunk looks at the places taken. */
export const MOST_LIMIT_CONCURRENCY = 1_000

/** The most `limit.rate.max`. */
export const MOST_RATE = 1_000_000

/** The most `catchUp.atMost`: slots of one job admitted after one outage. */
export const MOST_CATCH_UP_SLOTS = 10_000

/** The most `retry.attempts`. */
export const MOST_ATTEMPTS = 10_000

/**
 * A tolerance to start below this is never "longer than the period": a slot whose replica died is only taken again after
 * the claim lease and a sweep, so a job that fires every second cannot promise to be noticed within a second.
 */
export const LEAST_START_BOUND_MS = MINUTE_MS

/** What bounds the tolerance to start where the author gave none. */
export interface StartToleranceBounds {
  readonly periodMs: number
  readonly finishMs?: number | undefined
  readonly expireMs?: number | undefined
}

/**
 * The tolerance to start where none is given: {@link DEFAULT_START_TOLERANCE_MS}, but no longer than the period (at least
 * {@link LEAST_START_BOUND_MS}) and than half of a given `tolerance.finish` or `expire`. So the default contradicts nothing
 * that was written, and a job that fires every second needs no tolerance of its own.
 */
export function defaultStartToleranceMs({ periodMs, finishMs, expireMs }: StartToleranceBounds): number {
  const longest = Math.min(DEFAULT_START_TOLERANCE_MS, longestStartToleranceMs(periodMs))
  return Math.max(
    1,
    Math.floor(
      Math.min(longest, (finishMs ?? Number.POSITIVE_INFINITY) / 2, (expireMs ?? Number.POSITIVE_INFINITY) / 2),
    ),
  )
}

/** The longest tolerance to start of a job with this period. */
export function longestStartToleranceMs(periodMs: number): number {
  return Math.max(periodMs, LEAST_START_BOUND_MS)
}
