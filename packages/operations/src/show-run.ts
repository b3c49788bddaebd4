import {
  CronceError,
  formatSlotId,
  formatSlotKey,
  lastSlot,
  parseJobSettings,
  parseSlotKey,
  type Schedule,
} from '@cronce/core'
import {
  countDeadLettersOf,
  deadLetterMarksOf,
  type LedgerEntry,
  listGaps,
  listGenerations,
  type MarkQuery,
  type RunRef,
  readOpenLetters,
  readSlot,
  readSlotEvents,
  type SlotEvent,
  type Store,
  type StoredPause,
} from '@cronce/store'
import { LETTERS_AT_ONCE } from './dead-letter-filter.ts'
import { type DeadLetterRow, readDeadLetterRows } from './dead-letter-row.ts'
import { findJob } from './known-job.ts'
import { mergeMarks, takeFrom } from './merged-marks.ts'
import { type RunRow, rowOfGap, rowOfRun } from './run-row.ts'

/** Everything that is known of one slot. */
export interface RunDetails {
  readonly run: RunRow
  /** The whole record; undefined for a slot inside a gap, which has none of its own. */
  readonly record: LedgerEntry | undefined
  /** Oldest first. */
  readonly events: readonly SlotEvent[]
  /** The newest of its open dead letters, at most {@link MOST_LETTERS}. */
  readonly deadLetters: readonly DeadLetterRow[]
  /** The schedule in force now; undefined where it cannot be read. */
  readonly schedule: Schedule | undefined
  /** Of the job, now. */
  readonly pause: StoredPause | undefined
}

/** Dead letters that come with a run; the rest are listed by slot. */
export const MOST_LETTERS = 20

/** Gaps of a job that are looked through for one slot. */
const MOST_GAPS = 1

/**
 * One run by its slot key.
 *
 * @throws CronceError CRONCE_SLOT_KEY_INVALID, CRONCE_RUN_UNKNOWN
 */
export async function showRun(store: Store, slotKey: string): Promise<RunDetails> {
  const slot = parseSlotKey(slotKey)
  const { job } = slot
  const id = formatSlotId(slot.at, slot.manual)
  const [record, known] = await Promise.all([readSlot(store, job, id), findJob(store, job)])
  const schedule = known?.settings?.schedule
  const pause = known?.stored.pause
  if (record === undefined) return { ...(await showMissing(store, slot, schedule)), pause }
  const [events, deadLetters] = await Promise.all([readSlotEvents(store, job, id), newestOpen(store, { job, id })])
  return { run: rowOfRun(record), record, events, deadLetters, schedule, pause }
}

/** Those of a run that are open may all be older than many that are not. */
async function newestOpen(store: Store, run: RunRef): Promise<DeadLetterRow[]> {
  const wanted = Math.min(MOST_LETTERS, await countDeadLettersOf(store, run))
  const ids: string[] = []
  if (wanted === 0) return []
  const marks = (query: MarkQuery) => deadLetterMarksOf(store, run, query)
  const places = mergeMarks([{ name: run.job, marks }], { after: undefined, expected: LETTERS_AT_ONCE })
  for (let isMore = true; isMore && ids.length < wanted; ) {
    const batch = await takeFrom(places, LETTERS_AT_ONCE)
    isMore = batch.length === LETTERS_AT_ONCE
    const letters = await readOpenLetters(store, run.job, { ids: batch.map((place) => place.id) })
    ids.push(...letters.flatMap((letter) => letter?.id ?? []))
  }
  const rows = await readDeadLetterRows(store, run.job, ids.slice(0, wanted))
  return rows.filter((row) => row?.state === 'open').filter((row) => row !== undefined)
}

/** A slot without a record of its own: in a gap, or unknown. */
async function showMissing(
  store: Store,
  slot: { job: string; at: number; manual?: number },
  schedule: Schedule | undefined,
): Promise<Omit<RunDetails, 'pause'>> {
  const { job, at, manual } = slot
  // The first gap that ends at or after the slot is the only one that can hold it.
  const [gap] = manual === undefined ? await listGaps(store, job, { afterAt: at - 1, limit: MOST_GAPS }) : []
  if (gap === undefined || gap.fromAt >= at || !(await isSlot(store, { job, at }, schedule))) {
    throw new CronceError('CRONCE_RUN_UNKNOWN', { slot: formatSlotKey(slot) })
  }
  const run = { ...rowOfGap(job, gap, schedule), slot: formatSlotKey(slot), at, effectiveAt: at }
  const event = { at: gap.recordedAt, event: gap.state, detail: { by: gap.by, reason: gap.reason } }
  return { run, record: undefined, events: [event], deadLetters: [], schedule }
}

/** Whether an instant is a slot, by the schedule in force or by the one that was in force then (T7). */
async function isSlot(
  store: Store,
  { job, at }: { job: string; at: number },
  schedule: Schedule | undefined,
): Promise<boolean> {
  if (schedule === undefined || lastSlot(schedule, at) === at) return true
  const former = (await listGenerations(store, job)).findLast(({ sinceAt }) => sinceAt < at)
  const owner = parseJobSettings(former?.settings).ok?.schedule
  return owner !== undefined && lastSlot(owner, at) === at
}
