import type { OverlapPolicy, RunState, SlotId } from '@cronce/core'
import type { DueSlot } from './claims.ts'
import type { RunRef } from './plan.ts'
import { readReply } from './reply.ts'
import type { Store } from './store.ts'

/** Who asks for a run, and the claim it gets. */
export interface HandClaim {
  readonly token: string
  readonly leaseMs: number
  readonly by: string
  readonly release: string
  readonly why?: string
}

/** T11: a run by hand, with an identity of its own. `instant` is the slot form of `at` without an ordinal. */
export async function claimManual(
  store: Store,
  job: string,
  request: HandClaim & { instant: string; at: number; requestId?: string },
): Promise<{ status: 'claimed' | 'repeated'; id: SlotId }> {
  const { instant, at, token, leaseMs, by, release, requestId = token, why = '' } = request
  const reply = readReply(await store.job(job, 'manual', [instant, at, token, leaseMs, by, release, requestId, why]))
  const status = reply.text() as 'claimed' | 'repeated'
  reply.number()
  return { status, id: reply.text() as SlotId }
}

/** The slots of the gap that holds a named slot, on either side of it: the caller counts, the script checks. */
export interface GapSides {
  readonly before: number
  readonly after: number
}

export interface Revived {
  readonly status:
    | 'claimed'
    /** On its way. */
    | 'busy'
    /** Ended, started and cancelled, or folded. */
    | 'done'
    /** Not due yet. */
    | 'early'
    /** No slot of this job: before its registration. */
    | 'foreign'
    /** The gap is another by now: count anew. */
    | 'moved'
    /** T9: a backfill waits until no other run of the job is under way. */
    | 'later'
    /** Skipped by overlap, expiry or a pause, and the caller leaves that alone. */
    | 'left'
  readonly now: number
  /** The state it is in; undefined where the ledger has no record. */
  readonly state: RunState | undefined
  /** The run that a backfill waits for, or why a slot that is left alone was dropped; else empty. */
  readonly blocker: string
}

/** T11: takes a slot that was missed or skipped, splitting the gap that held it; what is done is refused. */
export async function reviveSlot(
  store: Store,
  job: string,
  request: HandClaim & {
    slot: DueSlot
    cause: 'manual' | 'backfill'
    sides: GapSides
    overlap: OverlapPolicy
    /** What overlap, expiry or a pause dropped. Default `take`. */
    dropped?: 'take' | 'leave'
  },
): Promise<Revived> {
  const { slot, cause, token, leaseMs, by, release, why = '', sides, overlap, dropped = 'take' } = request
  const hand = [slot.id, slot.at, slot.effectiveAt, cause, token, leaseMs, by, release, why]
  const reply = readReply(await store.job(job, 'revive', [...hand, sides.before, sides.after, overlap, dropped]))
  const status = reply.text() as Revived['status']
  const now = reply.number()
  const state = reply.text()
  return { status, now, state: state === '' ? undefined : (state as RunState), blocker: reply.text() }
}

export interface Rewalked {
  readonly status:
    | 'walking'
    /** It has not ended. */
    | 'busy'
    /** The fold is gone: nothing says what was done. */
    | 'expired'
    /** The fold has what was planned, but some of it was cancelled. */
    | 'cancelled'
    /** The ledger has no record of it. */
    | 'unknown'
  readonly state: RunState | undefined
  /** The plan step to add. */
  readonly step: number
}

/** R4: a forced re-run: plans again from the source and skips by the fold. Settles `letters`, the run's own dead letters. */
export async function rewalkRun(
  store: Store,
  run: RunRef,
  request: { by: string; why?: string; letters: readonly string[] },
): Promise<Rewalked> {
  const { by, why = '', letters } = request
  const reply = readReply(await store.job(run.job, 'rewalk', [run.id, by, why, ...letters]))
  const status = reply.text() as Rewalked['status']
  reply.number()
  const state = reply.text()
  return { status, state: state === '' ? undefined : (state as RunState), step: reply.number() }
}

/** T9: a worker that was told to stop a cancelled run's chunk has let go of it. */
export async function letGo(store: Store, run: RunRef, chunk: number): Promise<void> {
  await store.job(run.job, 'let-go', [run.id, chunk])
}
