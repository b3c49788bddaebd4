import { formatDoneLetterId, formatSlotKey, parseSlotId, type SlotKey, slotKeyOf } from '@cronce/core'
import { jobKey } from './keys.ts'
import type { RunRef } from './plan.ts'
import { readReply } from './reply.ts'
import type { Store } from './store.ts'

/** One failed attempt, as kept. */
export interface KeptError {
  readonly at: number
  readonly attempt: number
  readonly name: string
  readonly message: string
  readonly stack?: string
  readonly worker: string
}

/** An entity (or a run) that used up its attempts. */
export interface DeadLetter {
  readonly id: string
  readonly slot: SlotKey
  readonly job: string
  /** Undefined for a dead letter of the run: its plan or its `done`. */
  readonly entity: string | undefined
  readonly reason: string
  readonly state: 'open' | 'redriven' | 'resolved' | 'discarded'
  readonly attempts: number
  /** How often it died: a redrive that fails adds one. */
  readonly lives: number
  readonly at: number
  readonly worker: string
  readonly release: string
  readonly payload: unknown
  /** Newest first. */
  readonly errors: readonly KeptError[]
  readonly discardReason: string | undefined
}

/** One dead letter, whatever its state, or undefined. */
export async function readDeadLetter(store: Store, job: string, id: string): Promise<DeadLetter | undefined> {
  const key = `${jobKey(store.service, job)}:dead:${id}`
  const [fields, errors] = await Promise.all([store.redis.hgetall(key), store.redis.lrange(`${key}:errors`, 0, -1)])
  if (fields['id'] === undefined) return undefined
  const parsed = parseSlotId(fields['slot'] ?? '')
  if (parsed === undefined) return undefined
  return {
    id,
    slot: formatSlotKey({ job, ...parsed }),
    job,
    entity: fields['entity'],
    reason: fields['reason'] ?? '',
    state: fields['state'] as DeadLetter['state'],
    attempts: Number(fields['attempts'] ?? 0),
    lives: Number(fields['lives'] ?? 0),
    at: Number(fields['at'] ?? 0),
    worker: fields['worker'] ?? '',
    release: fields['release'] ?? '',
    payload: fields['payload'] === undefined ? undefined : JSON.parse(fields['payload']),
    errors: errors.map((line) => JSON.parse(line) as KeptError),
    discardReason: fields['discardReason'],
  }
}

/** Ids of a job's open dead letters, newest first. */
export function listDeadLetterIds(
  store: Store,
  job: string,
  page: { offset: number; limit: number },
): Promise<string[]> {
  return store.redis.zrevrange(`${jobKey(store.service, job)}:dead`, page.offset, page.offset + page.limit - 1)
}

/** Ids of the dead letters of one run, whatever their state, newest first. */
export function listDeadLetterIdsOf(
  store: Store,
  run: RunRef,
  page: { offset: number; limit: number },
): Promise<string[]> {
  return store.redis.zrevrange(
    `${jobKey(store.service, run.job)}:dead:of:${run.id}`,
    page.offset,
    page.offset + page.limit - 1,
  )
}

/** How many open dead letters a job has, or those whose last death lies in [fromAt, toAt). */
export function countDeadLetters(
  store: Store,
  job: string,
  { fromAt, toAt }: { fromAt?: number | undefined; toAt?: number | undefined } = {},
): Promise<number> {
  const key = `${jobKey(store.service, job)}:dead`
  return store.redis.zcount(key, fromAt ?? '-inf', toAt === undefined ? '+inf' : `(${toAt}`)
}

export interface Redriven {
  readonly status: 'redriven' | 'none' | 'unknown'
  readonly now: number
  readonly count: number
  /** The chunk that carries them; undefined where the plan or `done` was redriven. */
  readonly chunk: number | undefined
  /** The plan step to add; 0: none. */
  readonly step: number
  /** The outcome version whose `done` is due again; 0: none. */
  readonly doneVersion: number
}

/** W10: how many chunks of a run have work left. */
export function countOpenChunks(store: Store, run: RunRef): Promise<number> {
  return store.redis.zcard(`${jobKey(store.service, run.job)}:chunks:${run.id}`)
}

/** W8: open dead letters of one run (at most 100) become a new chunk of it, with fresh attempts. */
export async function redriveDeadLetters(
  store: Store,
  run: RunRef,
  request: { ids: readonly string[]; by: string; abandonedToo: boolean; diedUntil?: number },
): Promise<Redriven> {
  const doneLetter = formatDoneLetterId(slotKeyOf(run))
  const args = [run.id, request.by, request.abandonedToo ? 1 : 0, doneLetter, request.diedUntil ?? '', ...request.ids]
  const reply = readReply(await store.job(run.job, 'redrive', args))
  const status = reply.text() as Redriven['status']
  const [now, count, chunk, step, doneVersion] = [
    reply.number(),
    reply.number(),
    reply.number(),
    reply.number(),
    reply.number(),
  ]
  return { status, now, count, chunk: chunk < 0 ? undefined : chunk, step, doneVersion }
}

/** W8: gives open dead letters of one job up. Answers how many. */
export async function discardDeadLetters(
  store: Store,
  job: string,
  request: { ids: readonly string[]; by: string; reason: string; diedUntil?: number },
): Promise<number> {
  const args = [request.by, request.reason, request.diedUntil ?? '', ...request.ids]
  const [answer] = await store.job(job, 'discard', args)
  return Number(answer)
}

/** W8: the queue's view of these dead letters is up to date. */
export async function markViewed(store: Store, job: string, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await store.redis.zrem(`${jobKey(store.service, job)}:views`, ...ids)
}

/** Ids of dead letters whose view on the queue is behind, oldest first. */
export function listUnviewed(store: Store, job: string, limit: number): Promise<string[]> {
  return store.redis.zrange(`${jobKey(store.service, job)}:views`, '0', String(limit - 1))
}
