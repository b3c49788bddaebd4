import { RUN_STATES, type RunState } from '@cronce/core'
import { jobKey } from './keys.ts'
import { readReply } from './reply.ts'
import type { Store } from './store.ts'

/** T12: how much of a job's ledger is kept in detail; what is past it folds into daily sums, and those go after their time. */
export interface HistoryBounds {
  /** Default 30 days, ms. */
  readonly detailMs: number
  /** Default 1,000 slots, and as many gaps beside them. */
  readonly detailSlots: number
  /** Of sums, gaps and definitions that were in force. Default 400 days. */
  readonly days: number
}

export const DEFAULT_HISTORY: HistoryBounds = { detailMs: 30 * 24 * 3600 * 1000, detailSlots: 1_000, days: 400 }

/** Slots that one call folds: keeps the script short (promise 9). */
const MOST_FOLDED = 100

/** What one call of {@link foldHistory} left. */
export interface FoldedHistory {
  readonly folded: number
  /** Slots in detail, and gaps. */
  readonly detail: number
  readonly gaps: number
  /** Images that are older than history and not used any more: for {@link dropImages}, unless somebody carries one. */
  readonly images: readonly string[]
}

/** Folds what is past the bounds, at most 100 slots a call, and drops what is older than the sums. */
export async function foldHistory(
  store: Store,
  job: string,
  { now, bounds }: { now: number; bounds: HistoryBounds },
): Promise<FoldedHistory> {
  const { day, at } = oldestDay(now, bounds)
  const reply = readReply(
    await store.job(job, 'fold', [now - bounds.detailMs, bounds.detailSlots, day, MOST_FOLDED, at]),
  )
  const counts = { folded: reply.number(), detail: reply.number(), gaps: reply.number() }
  const images: string[] = []
  while (reply.more()) images.push(reply.text())
  return { ...counts, images }
}

/** The oldest UTC day that is kept, as YYYY-MM-DD, and its first instant. */
export function oldestDay(now: number, { days }: Pick<HistoryBounds, 'days'>): { day: string; at: number } {
  const day = new Date(now - days * 24 * 3600 * 1000).toISOString().slice(0, 10)
  return { day, at: Date.parse(day) }
}

/** Forgets images of {@link FoldedHistory} that no live replica carries. */
export async function dropImages(
  store: Store,
  job: string,
  { images, beforeAt }: { images: readonly string[]; beforeAt: number },
): Promise<void> {
  await store.job(job, 'drop-images', [beforeAt, ...images])
}

/** The folded slots of one UTC day, by the state they were in; runs by hand apart. */
export interface DaySum {
  /** YYYY-MM-DD, of the nominal instant. */
  readonly day: string
  readonly slots: Readonly<Partial<Record<RunState, number>>>
  readonly manual: number
}

/** The daily sums of a job between two days, inclusive, oldest first. */
export async function listDays(store: Store, job: string, range: { from: string; to: string }): Promise<DaySum[]> {
  const base = jobKey(store.service, job)
  const score = (day: string) => Number(day.replaceAll('-', ''))
  const days = await store.redis.zrangebyscore(`${base}:days`, score(range.from), score(range.to))
  const rows = await Promise.all(days.map((day) => store.redis.hgetall(`${base}:day:${day}`)))
  return days.map((day, index) => {
    const row = rows[index] ?? {}
    const slots = Object.entries(row).filter(([kind]) => kind in RUN_STATES)
    return {
      day,
      slots: Object.fromEntries(slots.map(([kind, count]) => [kind, Number(count)])),
      manual: Number(row['manual'] ?? 0),
    }
  })
}

/** One generation of a job: which image was in force after its start. */
export interface StoredGeneration {
  readonly generation: number
  /** Slots after this instant are its own, up to the next generation's start. */
  readonly sinceAt: number
  readonly image: string
  readonly by: string
  /** The job was removed for good at this instant, before this generation began anew (T8): nothing between is owed. */
  readonly goneAt: number | undefined
  /** The settings of its image, as stored. */
  readonly settings: unknown
}

/** The generations of a job, oldest first. */
export async function listGenerations(store: Store, job: string): Promise<StoredGeneration[]> {
  const base = jobKey(store.service, job)
  const lines = await store.redis.zrange(`${base}:generations`, '0', '-1')
  // Two that began within a millisecond have one score.
  const rows = lines.map((line) => JSON.parse(line) as StoredLine).toSorted((a, b) => a.generation - b.generation)
  const settings = await Promise.all(rows.map(({ image }) => store.redis.hget(`${base}:image:${image}`, 'settings')))
  return rows.map(({ since, gone, ...row }, index) => ({
    ...row,
    sinceAt: since,
    goneAt: gone,
    settings: JSON.parse(settings[index] ?? 'null') as unknown,
  }))
}

interface StoredLine {
  readonly generation: number
  readonly since: number
  readonly image: string
  readonly by: string
  readonly gone?: number
}
