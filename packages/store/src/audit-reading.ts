import type { SlotId } from '@cronce/core'
import { jobKey } from './keys.ts'
import type { Store } from './store.ts'

/** A stretch of a job's records by nominal instant, both ends included. */
export interface SlotIdQuery {
  readonly fromAt: number
  readonly untilAt: number
  /** Skips this many: those of `fromAt` that are known already. */
  readonly offset?: number
  readonly limit: number
}

/** The ids of a job's records in detail, oldest first, runs by hand among them: the index, without the records. */
export async function slotIds(store: Store, job: string, query: SlotIdQuery): Promise<SlotId[]> {
  const { fromAt, untilAt, offset = 0, limit } = query
  const key = `${jobKey(store.service, job)}:slots`
  return (await store.redis.zrangebyscore(key, fromAt, untilAt, 'LIMIT', offset, limit)) as SlotId[]
}

/** The ids of slots older than the job itself that a backfill has taken, whether or not their records are folded. */
export async function takenBeforeRegistration(
  store: Store,
  job: string,
  range: { fromAt: number; untilAt: number },
): Promise<SlotId[]> {
  const key = `${jobKey(store.service, job)}:before`
  return (await store.redis.zrangebyscore(key, range.fromAt, range.untilAt)) as SlotId[]
}

/** The ids of a job's slots that are `due` or `claimed`, oldest first. */
export async function openSlotIds(store: Store, job: string, limit: number): Promise<SlotId[]> {
  return (await store.redis.zrange(`${jobKey(store.service, job)}:open`, '0', String(limit - 1))) as SlotId[]
}

/** Ids of runs of a job that are claimed and have not ended for the first time (T9), the oldest of them. */
export async function liveSlotIds(store: Store, job: string, limit: number): Promise<SlotId[]> {
  return (await store.redis.zrange(`${jobKey(store.service, job)}:live`, '0', String(limit - 1))) as SlotId[]
}

/** When something last happened to a slot; undefined where the ledger has nothing of it. */
export async function lastEventAt(store: Store, job: string, id: SlotId): Promise<number | undefined> {
  const line = await store.redis.lindex(`${jobKey(store.service, job)}:events:${id}`, -1)
  return line === null ? undefined : (JSON.parse(line) as { at: number }).at
}
