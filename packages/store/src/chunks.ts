import type { Cause } from '@cronce/core'
import { type Executor, type MemberFault, type RunEnd, type RunRef, readEnd } from './plan.ts'
import { readReply } from './reply.ts'
import type { ScriptArgument, Store } from './store.ts'

/** How one entity of a chunk stands: fresh, started and not ended, waiting for a retry, done, dead, abandoned. */
export type MemberState = 'fresh' | 'started' | 'retrying' | 'done' | 'dead' | 'abandoned'

const MEMBER_STATES: Readonly<Record<string, MemberState>> = {
  '.': 'fresh',
  s: 'started',
  r: 'retrying',
  d: 'done',
  x: 'dead',
  a: 'abandoned',
}

/** One entity of a chunk. */
export interface ChunkMember {
  readonly index: number
  readonly key: string
  readonly payload: unknown
  readonly state: MemberState
  /** Attempts that ended, over crashes, new queue jobs and redrives. */
  readonly attempts: number
  /** Of them, those that use up none: of earlier lives (a redrive gives fresh attempts and goes on counting), and put off. */
  readonly attemptsBefore: number
  /** Not before this instant; 0 where it does not wait. */
  readonly nextAttemptAt: number
  /** Workers that died while it ran alone. */
  readonly crashes: number
  /** Set where the plan found that it cannot be executed. */
  readonly fault: MemberFault | undefined
}

export interface ChunkStart {
  readonly status:
    | 'run'
    | 'closed'
    | 'ended'
    | 'refused'
    /** The job's limit is reached: nothing was taken, hand it back. */
    | 'later'
  readonly now: number
  readonly fence: number
  /** Whether the last holder died without handing back. */
  readonly crashed: boolean
  /** Crashes of this chunk, whoever was running. */
  readonly crashes: number
  readonly effectiveAt: number
  readonly cause: Cause
  /** When the run started. */
  readonly startedAt: number
  /** Calls of the handler that this hold may make at once under the job's limit; 0: it has none. */
  readonly width: number
  /** Whether the job has a rate: entities are to be asked for by {@link startEntities}. */
  readonly isRated: boolean
  /** Where it is for later: how long until the limit may not be reached any more, ms; 0 where that is not known. */
  readonly waitMs: number
  readonly members: readonly ChunkMember[]
}

/** How long the places of a holder are its own without a word from it, ms. */
const PLACE_LEASE_MS = 30_000

/** A hold of a chunk, as whoever takes it asks for it. */
export interface ChunkRequest {
  readonly number: number
  readonly worker: string
  readonly token: string
  /** Calls of the handler that it would make at once. Default 1. */
  readonly width?: number
  /** How long its places under the job's limit stay its own between two writes. Default 30 s. */
  readonly leaseMs?: number
}

/** W4: how many entities may start under the job's rate, and after how many ms; `granted` 0: ask again then. */
export async function startEntities(
  store: Store,
  job: string,
  request: { wanted: number; atOnce: boolean },
): Promise<{ granted: number; waitMs: number }> {
  const reply = readReply(await store.job(job, 'start-entities', [request.wanted, request.atOnce ? 1 : 0]))
  return { granted: reply.number(), waitMs: reply.number() }
}

/**
 * W1, W6: starts a chunk. `token` names this hold of it: a start that the connection sent twice, or one that goes on after an
 * outage made it let go, has the same token and is no crash.
 */
export async function startChunk(store: Store, run: RunRef, options: ChunkRequest): Promise<ChunkStart> {
  const { number, worker, token, width = 1, leaseMs = PLACE_LEASE_MS } = options
  const reply = readReply(await store.job(run.job, 'chunk-start', [run.id, number, worker, token, width, leaseMs]))
  const status = reply.text() as ChunkStart['status']
  const now = reply.number()
  if (status !== 'run') {
    return {
      status,
      now,
      fence: 0,
      crashed: false,
      crashes: 0,
      effectiveAt: 0,
      cause: 'on-time',
      startedAt: 0,
      width: 0,
      isRated: false,
      waitMs: reply.number(),
      members: [],
    }
  }
  const start = {
    fence: reply.number(),
    crashed: reply.number() === 1,
    effectiveAt: reply.number(),
    cause: reply.text() as Cause,
    startedAt: reply.number(),
    width: reply.number(),
    isRated: reply.number() === 1,
    waitMs: 0,
  }
  const fields = reply.fields()
  return { status, now, ...start, crashes: Number(fields['crashes'] ?? 0), members: readMembers(fields) }
}

function readMembers(fields: Readonly<Record<string, string>>): ChunkMember[] {
  const states = fields['states'] ?? ''
  const members = JSON.parse(fields['members'] ?? '[]') as [string, unknown, MemberFault?][]
  return members.map(([key, payload, fault], index) => {
    const state = MEMBER_STATES[states[index] ?? '.'] ?? 'fresh'
    // The many that nothing has happened to have nothing to look up, and a spread would cost ten times what the JSON does.
    const read = state === 'fresh' ? nothing : (field: string) => Number(fields[`${field}${index}`] ?? 0)
    return {
      index,
      key,
      payload,
      state,
      attempts: read('a'),
      attemptsBefore: read('b'),
      nextAttemptAt: read('t'),
      crashes: read('c'),
      fault,
    }
  })
}

function nothing(): number {
  return 0
}

/** An attempt of one entity that did not succeed. */
export interface MemberFailure {
  readonly index: number
  /** `later`: as `retry`, but it uses up none of the attempts allowed. */
  readonly verdict: 'retry' | 'later' | 'dead' | 'abandoned'
  /** Attempts that have ended, this one included. */
  readonly attempts: number
  readonly nextAttemptAt: number
  /** JSON text; empty where there is no error to keep. */
  readonly error: string
  /** Why it is dead: failed, invalid, timeout, crashed, abandoned... */
  readonly reason: string
  readonly deadLetterId: string
  readonly entity: string
  /** JSON text of the payload. */
  readonly payload: string
}

export interface Settlement extends Executor {
  readonly number: number
  readonly fence: number
  readonly done: readonly number[]
  readonly failures: readonly MemberFailure[]
  /** Entities whose handler is about to start: the durable mark (W5, W6). Of a hand-back: those that lose it. */
  readonly started: readonly number[]
  /** Whether the started one runs alone after a crash. */
  readonly alone: boolean
  /** Gives the chunk back without using up anything: shutdown, or only retries left. */
  readonly handBack: boolean
}

export interface Settled {
  readonly status: 'open' | 'closed' | 'fenced' | 'gone'
  readonly now: number
  readonly left: number
  readonly ended: RunEnd | undefined
  /** The plan step that there is room for now; 0: none. */
  readonly nextStep: number
}

/** Indexes as text, those that follow each other as one: `0-41,43`. */
function stretches(indexes: readonly number[]): string {
  const parts: string[] = []
  let first = -1
  let last = -2
  const close = () => void (first >= 0 && parts.push(first === last ? `${first}` : `${first}-${last}`))
  for (const index of indexes.toSorted((a, b) => a - b)) {
    if (index > last + 1) {
      close()
      first = index
    }
    last = index
  }
  close()
  return parts.join(',')
}

/** W7: writes endings and marks; closes the chunk with its last entity and the run with its last chunk. */
export async function settleChunk(store: Store, run: RunRef, settlement: Settlement): Promise<Settled> {
  const { number, fence, worker, release, done, started, alone, handBack } = settlement
  const failures = settlement.failures.flatMap((failure): ScriptArgument[] => [
    failure.index,
    failure.verdict,
    failure.attempts,
    failure.nextAttemptAt,
    failure.error,
    failure.reason,
    failure.deadLetterId,
    failure.entity,
    failure.payload,
  ])
  const head = [
    run.id,
    number,
    fence,
    worker,
    release,
    stretches(done),
    started.join(','),
    alone ? 'alone' : '',
    handBack ? 1 : 0,
  ]
  const reply = readReply(await store.job(run.job, 'settle', [...head, ...failures]))
  const status = reply.text() as Settled['status']
  const [now, left] = [reply.number(), reply.number()]
  return { status, now, left, ended: readEnd(reply.text(), reply.number()), nextStep: reply.number() }
}
