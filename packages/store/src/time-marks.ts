import { parseSlotId, type SlotId } from '@cronce/core'
import { jobKey } from './keys.ts'
import type { RecordedGap } from './ledger.ts'
import type { Store } from './store.ts'

/** Where a record of a job stands in time. */
export interface TimeMark {
  readonly at: number
  readonly id: string
}

/** A stretch of a job's records, newest first. */
export interface MarkQuery {
  /** Records at or before this instant; default: the newest. */
  readonly untilAt?: number
  /** Skips this many of them: paging within one instant. */
  readonly offset?: number
  readonly limit: number
}

/** Where a job's slots are, newest first; those of one instant by their ids, backwards. */
export async function slotMarks(store: Store, job: string, query: MarkQuery): Promise<TimeMark[]> {
  const ids = await store.redis.zrevrangebyscore(`${jobKey(store.service, job)}:slots`, ...bounds(query))
  return ids.flatMap((id) => {
    const parsed = parseSlotId(id)
    return parsed === undefined ? [] : [{ at: parsed.at, id }]
  })
}

/** Where a job's open dead letters are, by their last death, newest first. */
export function deadLetterMarks(store: Store, job: string, query: MarkQuery): Promise<TimeMark[]> {
  return scoredMarks(store, `${jobKey(store.service, job)}:dead`, query)
}

/** Where the dead letters of one run are, whatever their state, newest first. */
export function deadLetterMarksOf(
  store: Store,
  run: { job: string; id: SlotId },
  query: MarkQuery,
): Promise<TimeMark[]> {
  return scoredMarks(store, `${jobKey(store.service, run.job)}:dead:of:${run.id}`, query)
}

/** The gaps of a job by their last instant, newest first. */
export async function gapsBackwards(store: Store, job: string, query: MarkQuery): Promise<RecordedGap[]> {
  const lines = await store.redis.zrevrangebyscore(`${jobKey(store.service, job)}:gaps`, ...bounds(query))
  return lines.map((line) => {
    const gap = JSON.parse(line) as Pick<RecordedGap, 'count' | 'state' | 'reason' | 'by'> & GapInstants
    const { count, state, reason, by } = gap
    return { fromAt: gap.from, toAt: gap.to, count, state, reason, by, recordedAt: gap.at }
  })
}

interface GapInstants {
  readonly from: number
  readonly to: number
  readonly at: number
}

/** Members of a sorted set by their scores, newest first. */
export async function scoredMarks(store: Store, key: string, query: MarkQuery): Promise<TimeMark[]> {
  const [max, min, ...limit] = bounds(query)
  const rows = await store.redis.zrevrangebyscore(key, max, min, 'WITHSCORES', ...limit)
  return rows.flatMap((id, index) => (index % 2 === 0 ? [{ id, at: Number(rows[index + 1]) }] : []))
}

function bounds({ untilAt, offset = 0, limit }: MarkQuery): [number | string, string, 'LIMIT', number, number] {
  return [untilAt ?? '+inf', '-inf', 'LIMIT', offset, limit]
}
