/**
 * What the ledger says of a slot. The one table of the system: the scripts that write the ledger are given it, the
 * lifecycle page is tested equal to it.
 */
export const RUN_STATES = {
  /** Admitted and free: a claim that was given back, a slot that waits for its turn. Not recorded. */
  due: 'open',
  /** A replica holds it and is about to enqueue it. A crash leaves a lease that ends. Not recorded. */
  claimed: 'open',
  /** On the queue, no worker has started it. A lost queue job is added again. */
  enqueued: 'active',
  /** A worker has started it. A crash leaves a fence that the next start raises. */
  running: 'active',
  /** Every entity succeeded, or there were none. */
  succeeded: 'ended',
  /** Some entities succeeded, some are dead letters. */
  partial: 'ended',
  /** No entity succeeded, or the plan could not be finished. */
  failed: 'ended',
  /** `onCrash: 'skip'`, and every entity was started by a worker that died. */
  abandoned: 'ended',
  /** A policy dropped it; the reason says which. */
  skipped: 'dropped',
  /** Nobody could run it in time; the reason says why. */
  missed: 'dropped',
} as const

export type RunState = keyof typeof RUN_STATES

/** How a run stands: `open` is not recorded yet; `active` is on its way; `ended` has an outcome; `dropped` never ran. */
export type RunPhase = (typeof RUN_STATES)[RunState]

/** Every legal change of state. Anything else is refused by the one script function that changes it. */
export const TRANSITIONS: Readonly<Record<RunState, readonly RunState[]>> = {
  due: ['claimed', 'running', 'skipped', 'missed'],
  claimed: ['due', 'enqueued', 'running', 'skipped', 'missed'],
  enqueued: ['running', 'skipped', 'failed'],
  running: ['succeeded', 'partial', 'failed', 'abandoned', 'skipped'],
  succeeded: ['running'],
  partial: ['running'],
  failed: ['running'],
  abandoned: ['running'],
  skipped: ['claimed'],
  missed: ['claimed'],
}

/** Why a run exists. */
export const CAUSES = ['on-time', 'late', 'catch-up', 'backfill', 'manual'] as const
export type Cause = (typeof CAUSES)[number]

/** Whether the ledger says what became of a slot in this state: everything but `due` and `claimed`. */
export function isRecorded(state: RunState): boolean {
  return RUN_STATES[state] !== 'open'
}

/** Whether a run in this state has an outcome. */
export function isEnded(state: RunState): boolean {
  return RUN_STATES[state] === 'ended'
}

/** The states a slot's record may begin in. */
export const INITIAL_STATES = ['due', 'claimed', 'skipped', 'missed'] as const satisfies readonly RunState[]
