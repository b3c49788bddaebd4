import { parseSlotId, type SlotId } from '@cronce/core'
import type { Gap } from './cuts.ts'
import { jobKey } from './keys.ts'
import { type LedgerEntry, readEntry } from './ledger-entry.ts'
import type { Store } from './store.ts'

/** Something that happened to a slot. */
export interface SlotEvent {
  readonly at: number
  readonly event: string
  /** Who, which chunk, why: as the script wrote it. */
  readonly detail: Readonly<Record<string, string | number>>
}

/** A gap as the ledger keeps it. */
export interface RecordedGap extends Gap {
  readonly recordedAt: number
  readonly by: string
}

/** One slot's record, or undefined. */
export async function readSlot(store: Store, job: string, id: SlotId): Promise<LedgerEntry | undefined> {
  const fields = await store.redis.hgetall(`${jobKey(store.service, job)}:slot:${id}`)
  return fields['state'] === undefined ? undefined : readEntry(job, id, fields)
}

/** What happened to one slot, oldest first. */
export async function readSlotEvents(store: Store, job: string, id: SlotId): Promise<SlotEvent[]> {
  const lines = await store.redis.lrange(`${jobKey(store.service, job)}:events:${id}`, 0, -1)
  return lines.map((line) => {
    const { at, event, ...detail } = JSON.parse(line) as { at: number; event: string }
    return { at, event, detail }
  })
}

export interface LedgerQuery {
  /** Slots whose nominal instant is at or before this; default: the newest. */
  readonly untilAt?: number
  /** Slots at or after this; default: the oldest. */
  readonly fromAt?: number
  /** Skips this many of the newest in the range: paging within one instant. */
  readonly offset?: number
  readonly limit: number
}

/** A job's slots, newest first. */
export async function listSlots(store: Store, job: string, query: LedgerQuery): Promise<LedgerEntry[]> {
  const base = jobKey(store.service, job)
  const { untilAt, fromAt, offset = 0, limit } = query
  const ids = await store.redis.zrevrangebyscore(
    `${base}:slots`,
    untilAt ?? '+inf',
    fromAt ?? '-inf',
    'LIMIT',
    offset,
    limit,
  )
  const rows = await Promise.all(ids.map((id) => store.redis.hgetall(`${base}:slot:${id}`)))
  return rows.flatMap((fields, index) => {
    const id = ids[index] as SlotId
    return parseSlotId(id) === undefined || fields['state'] === undefined ? [] : [readEntry(job, id, fields)]
  })
}

/** How many ledger entries of a job lie in (after, until]. */
export function countSlots(store: Store, job: string, range: { afterAt: number; untilAt: number }): Promise<number> {
  return store.redis.zcount(`${jobKey(store.service, job)}:slots`, `(${range.afterAt}`, range.untilAt)
}

/** The gaps of a job that end after an instant, oldest first. */
export async function listGaps(
  store: Store,
  job: string,
  range: { afterAt: number; limit: number },
): Promise<RecordedGap[]> {
  const lines = await store.redis.zrangebyscore(
    `${jobKey(store.service, job)}:gaps`,
    `(${range.afterAt}`,
    '+inf',
    'LIMIT',
    0,
    range.limit,
  )
  return lines.map((line) => {
    const gap = JSON.parse(line) as Omit<RecordedGap, 'fromAt' | 'toAt' | 'recordedAt'> & {
      from: number
      to: number
      at: number
    }
    return {
      fromAt: gap.from,
      toAt: gap.to,
      count: gap.count,
      state: gap.state,
      reason: gap.reason,
      by: gap.by,
      recordedAt: gap.at,
    }
  })
}
