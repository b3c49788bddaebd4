import { type Duration, durationFault, type Fault, parseDuration } from '@cronce/core'

/** How long a silent worker keeps a task before another may take it, ms. */
export const DEFAULT_LOCK_MS = 30_000

/** How often a worker says that it lives, ms. */
export const DEFAULT_HEARTBEAT_MS = 10_000

/** How often a worker looks for tasks that nothing was heard of, ms. */
export const DEFAULT_SWEEP_MS = 10_000

/** Tasks that nothing was heard of for this long are added again, ms. */
export const DEFAULT_QUIET_MS = 30_000

/** How long outcomes of a chunk are gathered before they are written, ms. */
export const DEFAULT_SETTLE_MS = 200

/** How often a chunk asks whether it is still its worker's, ms: how soon a cancelled run is noticed. */
export const DEFAULT_RECHECK_MS = 5_000

/** How long an effect is leased to an attempt that stopped renewing, ms. */
export const DEFAULT_RECEIPT_LEASE_MS = 30_000

/** How long one step of a plan may write pages before it makes room for others, ms. */
export const DEFAULT_PLAN_STEP_MS = 1_000

/** How long `stop` waits for what runs, ms. */
export const DEFAULT_SHUTDOWN_MS = 30_000

/** How long handlers have, after their signal fired, to end by themselves, ms. */
export const DEFAULT_ABORT_GRACE_MS = 1_000

/** How often an entity may take its worker down, alone, before it is a dead letter. */
export const DEFAULT_CRASH_LIMIT = 2

/** The fewest chunks of one run that may be open at once, whatever the concurrency. */
export const LEAST_OPEN_CHUNKS = 40

/** Timing and limits of a worker; times in milliseconds. */
export interface WorkerTiming {
  readonly lockMs: number
  readonly stalledEveryMs: number
  readonly heartbeatMs: number
  readonly sweepMs: number
  readonly quietMs: number
  readonly settleMs: number
  readonly recheckMs: number
  readonly receiptLeaseMs: number
  readonly planStepMs: number
  readonly shutdownMs: number
  readonly abortGraceMs: number
  readonly crashLimit: number
  readonly openChunks: number
}

export interface WorkerTimingOptions {
  /** How long `stop()` waits for what runs before it aborts it. Default 30 s. */
  readonly shutdownTimeout?: Duration | undefined
  /** How long handlers have, after their signal fired at a stop, to end by themselves. Default 1 s. */
  readonly abortGrace?: Duration | undefined
  /** How long a silent worker keeps a task before another may take it. Default 30 s. */
  readonly lock?: Duration | undefined
  /** How often silent workers are looked for. Default: as long as `lock`. */
  readonly stalledEvery?: Duration | undefined
  /** Default 10 s. */
  readonly heartbeatEvery?: Duration | undefined
  /** How often this worker looks for tasks that nothing was heard of. Default 10 s. */
  readonly sweepEvery?: Duration | undefined
  /** Tasks that nothing was heard of for this long are added again. Default 30 s. */
  readonly readdAfter?: Duration | undefined
  /** How long outcomes are gathered before they are written. A crash repeats those of `complete` jobs. Default 200 ms. */
  readonly settleEvery?: Duration | undefined
  /** How often a chunk asks whether it is still this worker's: how soon a cancelled run is noticed. Default 5 s. */
  readonly recheckEvery?: Duration | undefined
  /** How long an effect of `ctx.once` stays another's after its attempt stopped renewing. Default 30 s. */
  readonly receiptLease?: Duration | undefined
  /** How long one step of a plan may take before it makes room for others. Default 1 s. */
  readonly planStep?: Duration | undefined
  /** How often an entity may take its worker down, alone, before it is a dead letter. Default 2. */
  readonly crashLimit?: number | undefined
  /** The most chunks of one run that are open at once. Default: 4 times the concurrency of the widest queue, at least 40. */
  readonly openChunks?: number | undefined
}

const DURATIONS = {
  shutdownTimeout: DEFAULT_SHUTDOWN_MS,
  abortGrace: DEFAULT_ABORT_GRACE_MS,
  lock: DEFAULT_LOCK_MS,
  heartbeatEvery: DEFAULT_HEARTBEAT_MS,
  sweepEvery: DEFAULT_SWEEP_MS,
  readdAfter: DEFAULT_QUIET_MS,
  settleEvery: DEFAULT_SETTLE_MS,
  recheckEvery: DEFAULT_RECHECK_MS,
  receiptLease: DEFAULT_RECEIPT_LEASE_MS,
  planStep: DEFAULT_PLAN_STEP_MS,
} as const satisfies Partial<Record<keyof WorkerTimingOptions, number>>

/** Everything that is wrong with the timing of a worker. */
export function timingFaults(options: WorkerTimingOptions): Fault[] {
  const durations = [...Object.keys(DURATIONS), 'stalledEvery'] as (keyof WorkerTimingOptions)[]
  const faults = durations.flatMap((path) => {
    const message = options[path] === undefined ? undefined : durationFault(options[path])
    return message === undefined ? [] : [{ path, message }]
  })
  for (const path of ['crashLimit', 'openChunks'] as const) {
    const value = options[path]
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= 1)) {
      faults.push({ path, message: `expected a whole number from 1, got ${String(value)}` })
    }
  }
  return faults
}

/** Options whose {@link timingFaults} are none, with defaults filled in. */
export function readTiming(options: WorkerTimingOptions, queues: Readonly<Record<string, number>>): WorkerTiming {
  const read = (name: keyof typeof DURATIONS): number => parseDuration(options[name] ?? DURATIONS[name])
  const lockMs = read('lock')
  return {
    lockMs,
    stalledEveryMs: options.stalledEvery === undefined ? lockMs : parseDuration(options.stalledEvery),
    heartbeatMs: read('heartbeatEvery'),
    sweepMs: read('sweepEvery'),
    quietMs: read('readdAfter'),
    settleMs: read('settleEvery'),
    recheckMs: read('recheckEvery'),
    receiptLeaseMs: read('receiptLease'),
    planStepMs: read('planStep'),
    shutdownMs: read('shutdownTimeout'),
    abortGraceMs: read('abortGrace'),
    crashLimit: options.crashLimit ?? DEFAULT_CRASH_LIMIT,
    openChunks: options.openChunks ?? Math.max(LEAST_OPEN_CHUNKS, 4 * Math.max(0, ...Object.values(queues))),
  }
}
