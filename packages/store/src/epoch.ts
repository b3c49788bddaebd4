import { serviceKey } from './keys.ts'
import type { TakenJob } from './open-work.ts'
import { readReply } from './reply.ts'
import type { Store } from './store.ts'

/** S2: the store's random name for this service; gives it `fresh` where it has none. Another one means that the store is another. */
export async function readEpoch(store: Store, fresh: string): Promise<string> {
  const key = `${serviceKey(store.service)}:epoch`
  await store.redis.set(key, fresh, 'NX')
  return (await store.redis.get(key)) ?? fresh
}

/** What a sweep learns from the service's keys. */
export interface Look {
  readonly now: number
  /** Empty where the store has none: it was emptied. */
  readonly epoch: string
  /** Jobs that were registered anew or changed since the newest change known; at most 1,000. */
  readonly changed: readonly string[]
  readonly newestChange: number
  /** Jobs whose slots this sweep is to look at. */
  readonly taken: readonly TakenJob[]
}

/** A5: one look at the service: the epoch, what changed since `newestChange`, and the jobs whose slots are to be looked at. */
export async function look(
  store: Store,
  request: { putOffMs: number; most: number; newestChange: number },
): Promise<Look> {
  const reply = readReply(await store.span('look', [request.putOffMs, request.most, request.newestChange]))
  const [now, epoch, newestChange] = [reply.number(), reply.text(), reply.number()]
  const changed = Array.from({ length: reply.number() }, () => reply.text())
  const taken: TakenJob[] = []
  while (reply.more()) taken.push({ job: reply.text(), score: reply.number() })
  return { now, epoch, changed, newestChange, taken }
}

/** What a replica remembers of a job, for a store that lost it. Instants in epoch ms. */
export interface Memory {
  readonly watermarkAt: number
  readonly sinceAt: number
  readonly registeredAt: number
}

/** S2: tells the store what this replica remembers of a job; for one sweep nothing is claimed, so that others can tell theirs. */
export async function restoreJob(
  store: Store,
  job: string,
  request: Memory & { waitMs: number; by: string },
): Promise<'restoring' | 'unknown'> {
  const { watermarkAt, sinceAt, registeredAt, waitMs, by } = request
  const [status] = await store.job(job, 'restore', [watermarkAt, sinceAt, registeredAt, waitMs, by])
  return status as 'restoring' | 'unknown'
}
