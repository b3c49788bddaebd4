import { serviceKey } from './keys.ts'
import { readReply } from './reply.ts'
import type { Store } from './store.ts'

/**
 * T8: a final tombstone leaves the lists of the service. Its ledger stays for the history period; the set of tombstones, scored by when
 * to look at each, is what finds it afterwards.
 */
export async function forgetJob(store: Store, job: string): Promise<void> {
  const key = serviceKey(store.service)
  // First: what is on neither list is audited by nobody. Looked at once soon: it may have been registered again in between.
  await store.redis.zadd(`${key}:tombstones`, 0, job)
  await Promise.all([store.redis.zrem(`${key}:jobs`, job), store.redis.zrem(`${key}:watch`, job)])
}

/** Names of jobs that were removed for good (T8) and not registered since; their ledgers stay for the history period. */
export function listForgottenJobs(store: Store): Promise<string[]> {
  return store.redis.zrange(`${serviceKey(store.service)}:tombstones`, '0', '-1')
}

/** T8: a job that is on the list of tombstones and was registered again is listed, where its burial took it off the list. */
export async function listAgain(store: Store, job: string): Promise<void> {
  await store.span('change', [job, 1])
}

export interface ErasureRequest {
  /** How long history is kept after the removal, ms. */
  readonly keptMs: number
  /** How much longer what is under way is waited for, ms. */
  readonly waitMs: number
  /** Dead letters that are off the dead-letter queue. */
  readonly letters: readonly string[]
}

export interface Erasure {
  readonly status:
    | 'erased'
    /** Something is left: go on. */
    | 'more'
    | 'early'
    /** It was registered again. */
    | 'back'
  /** When to look again, where it is early. */
  readonly lookAt: number
  /** To be taken off the dead-letter queue, then given back. */
  readonly letters: readonly string[]
}

/** T8: deletes some of the keys of a job whose removal is final and which history no longer reaches back to. */
export async function eraseJob(store: Store, job: string, request: ErasureRequest): Promise<Erasure> {
  const { keptMs, waitMs } = request
  const reply = readReply(await store.job(job, 'erase', [keptMs, waitMs, ...request.letters]))
  const status = reply.text() as Erasure['status']
  const lookAt = reply.number()
  const letters: string[] = []
  while (reply.more()) letters.push(reply.text())
  return { status, lookAt, letters }
}
