import { hash } from 'node:crypto'
import type { Cause, RunState, SlotId } from '@cronce/core'
import { readReply } from './reply.ts'
import type { Store } from './store.ts'

/** One run, for the functions that work on it. */
export interface RunRef {
  readonly job: string
  readonly id: SlotId
}

/** Who works: recorded with what it does. */
export interface Executor {
  readonly worker: string
  readonly release: string
}

export interface PlanStart {
  readonly status:
    | 'run'
    /** The plan is complete; its open chunks may have to be added again. */
    | 'planned'
    /** Ended or dropped: acknowledge without effect. */
    | 'ended'
    /** Below the watermark without a record: succeeded long ago, or in a gap. */
    | 'folded'
    /** The ledger knows nothing of it: nothing to run. */
    | 'refused'
    /** The job is paused: hand it back (T10). */
    | 'paused'
    /** It took its workers down too often while they read the source: fail it. */
    | 'crashing'
  readonly now: number
  readonly fence: number
  readonly cursor: string
  readonly written: number
  readonly closed: number
  readonly effectiveAt: number
  readonly cause: Cause
  /** Failed attempts at the page after the cursor. */
  readonly attempts: number
  /** Chunks written and not settled, in order. */
  readonly openChunks: readonly number[]
}

/** W1: starts a step of a run's plan. */
export async function startPlan(
  store: Store,
  run: RunRef,
  options: Executor & { at: number; hasDone: boolean; mostOpenChunks: number },
): Promise<PlanStart> {
  const { at, worker, release, hasDone, mostOpenChunks } = options
  const reply = readReply(
    await store.job(run.job, 'plan-start', [run.id, at, worker, release, hasDone ? 1 : 0, mostOpenChunks]),
  )
  const status = reply.text() as PlanStart['status']
  const start = {
    now: reply.number(),
    fence: reply.number(),
    cursor: reply.text(),
    written: reply.number(),
    closed: reply.number(),
  }
  reply.number()
  const facts = { effectiveAt: reply.number(), cause: reply.text() as Cause, attempts: reply.number() }
  const openChunks: number[] = []
  while (reply.more()) openChunks.push(reply.number())
  return { status, ...start, ...facts, openChunks }
}

/** One entity of a page, as the plan keeps it. */
export interface PlanMember {
  readonly key: string
  /** JSON text of the payload, on one line. */
  readonly payload: string
  /** Set where it is planned only to become a dead letter. */
  readonly fault?: MemberFault
}

/** Why an entity cannot be executed: too large, no key, not serialisable. */
export interface MemberFault {
  readonly reason: string
  readonly message: string
}

export interface PlanPage {
  readonly fence: number
  /** The cursor the page was read after. */
  readonly after: string
  readonly next: string
  readonly last: boolean
  readonly members: readonly PlanMember[]
}

/** How a run ended, where a write ended it. */
export interface RunEnd {
  readonly state: RunState
  /** Counts outcomes of one run: a redrive makes a newer one. */
  readonly version: number
}

export interface PageWritten {
  readonly status: 'written' | 'fenced' | 'moved'
  readonly now: number
  /** The chunk that carries the page; undefined where no member was new. */
  readonly chunk: number | undefined
  readonly openChunks: number
  readonly ended: RunEnd | undefined
}

/** W2: writes one page as one chunk, compare-and-set on the cursor. */
export async function writePage(store: Store, run: RunRef, page: PlanPage): Promise<PageWritten> {
  const reply = readReply(
    await store.job(run.job, 'plan-write', [
      run.id,
      page.fence,
      page.after,
      page.next,
      page.last ? 1 : 0,
      packHashes(page.members),
      `[${page.members.map(memberJson).join(',\n')}]`,
    ]),
  )
  const status = reply.text() as PageWritten['status']
  const [now, chunk, openChunks] = [reply.number(), reply.number(), reply.number()]
  return { status, now, chunk: chunk < 0 ? undefined : chunk, openChunks, ended: readEnd(reply.text(), reply.number()) }
}

function memberJson({ key, payload, fault }: PlanMember): string {
  const rest = fault === undefined ? '' : `,${JSON.stringify(fault)}`
  return `[${JSON.stringify(key)},${payload}${rest}]`
}

export interface PlanYield {
  readonly status: 'paused' | 'continue' | 'next' | 'fenced'
  /** The step to add, where the status is `next`. */
  readonly step: number
}

/** W2: a step stops: for `room`, because enough chunks are open; for `time`, because it has been long enough. */
export async function yieldPlan(
  store: Store,
  run: RunRef,
  stop: { fence: number; why: 'room' | 'time' },
): Promise<PlanYield> {
  const reply = readReply(await store.job(run.job, 'plan-yield', [run.id, stop.fence, stop.why]))
  return { status: reply.text() as PlanYield['status'], step: reply.number() }
}

/** W2: the source failed once more. */
export async function failPlan(
  store: Store,
  run: RunRef,
  failure: Executor & { fence: number; attemptsAllowed: number; error: string; deadLetterId: string },
): Promise<{ status: 'retry' | 'failed' | 'fenced'; attempts: number; ended: RunEnd | undefined }> {
  const { fence, attemptsAllowed, error, deadLetterId, worker, release } = failure
  const reply = readReply(
    await store.job(run.job, 'plan-fail', [run.id, fence, attemptsAllowed, error, deadLetterId, worker, release]),
  )
  return {
    status: reply.text() as 'retry' | 'failed' | 'fenced',
    attempts: reply.number(),
    ended: readEnd(reply.text(), reply.number()),
  }
}

/** How a run stands that no live worker has the handler of. */
export interface Unserved {
  readonly status: /** Nobody had started it: it is failed. */
    | 'failed'
    /** It may still be served. */
    | 'standing'
    /** It was under way: its plan is closed, and its chunks are to be given up as they come. */
    | 'given-up'
    /** Ended, or dropped. */
    | 'over'
  readonly ended: RunEnd | undefined
}

/** W1: nobody has the handler of a run. It is failed or given up once its time has passed, and can be redriven. */
export async function failUnserved(
  store: Store,
  run: RunRef,
  failure: Executor & { error: string; deadLetterId: string; isOverdue: boolean; standstillMs: number },
): Promise<Unserved> {
  const { error, deadLetterId, worker, release, isOverdue, standstillMs } = failure
  const args = [run.id, deadLetterId, error, worker, release, isOverdue ? 1 : 0, standstillMs]
  const reply = readReply(await store.job(run.job, 'unserved', args))
  return { status: reply.text() as Unserved['status'], ended: readEnd(reply.text(), reply.number()) }
}

/** The 8 bytes under which each entity is known in the compact sets of its run, one after the other. */
function packHashes(members: readonly PlanMember[]): Buffer {
  let packed = ''
  // As text, one character a byte: a Buffer of its own for each costs more than its hash.
  for (const { key } of members) packed += hash('sha1', key, 'binary').slice(0, 8)
  return Buffer.from(packed, 'binary')
}

/** A run's end as scripts answer it: state and version, empty where nothing ended. */
export function readEnd(state: string, version: number): RunEnd | undefined {
  return state === '' ? undefined : { state: state as RunState, version }
}
