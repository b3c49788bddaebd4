import type { OverlapPolicy, SlotId } from '@cronce/core'
import { readReply } from './reply.ts'
import type { ScriptArgument, Store } from './store.ts'

/** A slot that is asked for. `effectiveAt` is the nominal instant plus the job's spread. */
export interface DueSlot {
  readonly id: SlotId
  readonly at: number
  readonly effectiveAt: number
}

export interface ClaimRequest {
  readonly job: string
  /** Ordered, at most 100. */
  readonly slots: readonly DueSlot[]
  /** How many of them, from the first, are all there are after `watermarkAt`: the watermark advances along these. */
  readonly complete: number
  /** Where a slot that is taken goes, and the payload version it is for. */
  readonly queue: string
  readonly version: number
  readonly generation: number
  readonly watermarkAt: number
  /** Fresh for this try. */
  readonly token: string
  readonly leaseMs: number
  readonly graceMs: number
  /** How many backlog slots (late, catch-up, backfill) may be taken in this tick. */
  readonly backlog: number
  readonly overlap: OverlapPolicy
  /** How long a cancelled run's worker has to let go, ms. */
  readonly timeoutMs: number
  /** A slot not started this long after its effective instant expires; 0: never. */
  readonly expireMs: number
  readonly replica: string
  readonly release: string
}

/** What became of one slot of the request, or of an open one that the store added. */
export interface ClaimVerdict {
  readonly id: SlotId
  readonly at: number
  readonly verdict:
    | 'claimed'
    /** The ledger says what became of it. */
    | 'recorded'
    /** Another replica's lease runs. */
    | 'held'
    /** Its effective instant is later than Redis's now. */
    | 'early'
    /** Older than grace and unknown to the ledger: the cut's. */
    | 'old'
    /** Not of this generation. */
    | 'before'
    /** Backlog, for a later tick. */
    | 'later'
    /** Backlog, and a run before it has not ended: a sweep after its end asks again. */
    | 'behind'
    /** The overlap policy or its use-by dropped it just now. */
    | 'skipped'
    /** It waits for the run before it. */
    | 'waiting'
  /** Who holds it, where claimed or held. */
  readonly by: string
  /** When the lease ends, where claimed or held; else 0. */
  readonly untilAt: number
}

export interface ClaimAnswer {
  readonly status:
    | 'ok'
    /** The store has a lower watermark or another generation. */
    | 'stale'
    /** The store has no such job. */
    | 'unknown'
    /** Another image is to be in force: close the generation. */
    | 'switching'
    | 'paused'
    /** A pause has ended: cut first. */
    | 'resuming'
    /** No live replica carries it any more. */
    | 'gone'
    /** The store lost writes; memories are being merged. */
    | 'restoring'
    /** They are merged: cut first. */
    | 'restored'
  readonly now: number
  readonly watermarkAt: number
  readonly generation: number
  readonly sinceAt: number
  readonly slots: readonly ClaimVerdict[]
}

/** T1: tries to take every slot of the list. */
export async function claimSlots(store: Store, request: ClaimRequest): Promise<ClaimAnswer> {
  const asked = {
    token: request.token,
    lease: request.leaseMs,
    replica: request.replica,
    release: request.release,
    generation: request.generation,
    watermark: request.watermarkAt,
    grace: request.graceMs,
    backlog: request.backlog,
    overlap: request.overlap,
    timeout: request.timeoutMs,
    useBy: request.expireMs,
    queue: request.queue,
    version: request.version,
    complete: request.complete,
    slots: request.slots.map(({ id, at, effectiveAt }) => [id, at, effectiveAt]),
  }
  const reply = readReply(await store.job(request.job, 'claim', [JSON.stringify(asked)]))
  const status = reply.text() as ClaimAnswer['status']
  const answer = {
    now: reply.number(),
    watermarkAt: reply.number(),
    generation: reply.number(),
    sinceAt: reply.number(),
  }
  const verdicts: ClaimVerdict[] = []
  while (reply.more()) {
    verdicts.push({
      id: reply.text() as SlotId,
      at: reply.number(),
      verdict: reply.text() as ClaimVerdict['verdict'],
      by: reply.text(),
      untilAt: reply.number(),
    })
  }
  return { status, ...answer, slots: verdicts }
}

export interface RecordRequest {
  readonly job: string
  /** What is on the queue; `traceId`: the trace that its runs are found under. */
  readonly added: readonly { readonly id: SlotId; readonly traceId?: string | undefined }[]
  readonly replica: string
  /** How long the marker outlives the claim. */
  readonly markerMs: number
  /** Whether they were placed for a plain BullMQ worker: the run ends, for us, at `enqueued`. */
  readonly foreign: boolean
  readonly queue: string
  readonly version: number
  /** The complete part of the list the claim was made with: the watermark advances along it. */
  readonly slots: readonly DueSlot[]
}

/** T3: the slots are on the queue. Answers the watermark. */
export async function recordSlots(store: Store, request: RecordRequest): Promise<number> {
  const list = request.slots.flatMap((slot): ScriptArgument[] => [slot.id, slot.at])
  const answer = await store.job(request.job, 'record', [
    request.replica,
    request.markerMs,
    request.foreign ? 1 : 0,
    request.queue,
    request.version,
    request.added.length,
    ...request.added.flatMap(({ id, traceId = '' }) => [id, traceId]),
    ...list,
  ])
  return Number(answer[1])
}

/** T2: gives a claim back after an add that surely added nothing. */
export async function releaseSlot(
  store: Store,
  job: string,
  claim: { id: SlotId; token: string; reason: string },
): Promise<'released' | 'lost'> {
  const [answer] = await store.job(job, 'release', [claim.token, claim.id, claim.reason])
  return answer === 'released' ? 'released' : 'lost'
}
