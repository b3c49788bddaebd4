import { DEFAULT_CLAIM_LEASE_MS, type Duration, parseDuration } from '@cronce/core'

/** How often a replica looks for what others left open, ms. With the claim lease, the bound of promise 2. */
export const DEFAULT_SWEEP_MS = 10_000

/** How often a replica says that it lives, ms. */
export const DEFAULT_HEARTBEAT_MS = 15_000

/** A replica that was not heard of for this many heartbeats is taken for gone. */
export const HEARTBEATS_MISSED = 3

/** The longest a loop sleeps without looking at its clock again, ms: a clock that jumped is noticed within it. */
export const LONGEST_SLEEP_MS = 30_000

/** A replica whose clock differs from Redis's by more is warned of, ms. */
export const SKEW_WARNING_MS = 1_000

/** Tasks that nothing was heard of for this long are added again, ms. */
export const DEFAULT_QUIET_MS = 30_000

/** How long a claim's marker outlives its slot, ms: longer than any late add. */
export const MARKER_MS = 24 * 3600 * 1000

/** Backlog slots that one tick takes of one job: oldest first, at a bounded rate. */
export const BACKLOG_PER_TICK = 1

/** Slots of one job in one script: keeps every command short (promise 9). */
export const MOST_SLOTS = 100

/** Timing of a trigger, in milliseconds. */
export interface TriggerTiming {
  readonly claimLeaseMs: number
  readonly sweepMs: number
  readonly quietMs: number
  readonly heartbeatMs: number
}

export interface TimingOptions {
  /** How long a claim holds before another replica may take the slot. Default 10 s. */
  readonly claimLease?: Duration | undefined
  /** How often this replica sweeps. Default 10 s. */
  readonly sweepEvery?: Duration | undefined
  /** Tasks that nothing was heard of for this long are added again. Default 30 s. */
  readonly readdAfter?: Duration | undefined
  /** How often this replica says that it lives; after three silences its image counts as gone. Default 15 s. */
  readonly heartbeatEvery?: Duration | undefined
}

/** @throws CronceError CRONCE_DURATION_INVALID */
export function parseTiming({ claimLease, sweepEvery, readdAfter, heartbeatEvery }: TimingOptions): TriggerTiming {
  return {
    claimLeaseMs: claimLease === undefined ? DEFAULT_CLAIM_LEASE_MS : parseDuration(claimLease),
    sweepMs: sweepEvery === undefined ? DEFAULT_SWEEP_MS : parseDuration(sweepEvery),
    quietMs: readdAfter === undefined ? DEFAULT_QUIET_MS : parseDuration(readdAfter),
    heartbeatMs: heartbeatEvery === undefined ? DEFAULT_HEARTBEAT_MS : parseDuration(heartbeatEvery),
  }
}
