import { CronceError, formatDeadLetterId, formatDoneLetterId, parseDeadLetterId, parseSlotKey } from '@cronce/core'
import { countDeadLetters, countDeadLettersOf, listJobNames, type Store } from '@cronce/store'
import {
  type DeadLetterFilter,
  eachMeantBatch,
  filterLetters,
  LETTERS_AT_ONCE,
  runOfSlot,
} from './dead-letter-filter.ts'
import { type DeadLetterRow, readDeadLetterRows } from './dead-letter-row.ts'
import { readPage } from './merged-marks.ts'
import { type Page, type PageRequest, pageLimit, readCursor } from './page.ts'

export interface DeadLetterPage extends Page<DeadLetterRow> {
  /** Open dead letters that the filter means, on all pages; undefined where it was not counted. */
  readonly total: number | undefined
}

export interface DeadLetterQuery extends DeadLetterFilter, PageRequest {
  /** `if-quick`: only where no letter has to be looked at for it. Default `exact`. */
  readonly count?: 'exact' | 'if-quick' | undefined
}

/**
 * Open dead letters, newest first.
 *
 * @throws CronceError CRONCE_JOB_UNKNOWN, CRONCE_SLOT_KEY_INVALID, CRONCE_INPUT_INVALID
 */
export async function listDeadLetters(store: Store, query: DeadLetterQuery = {}): Promise<DeadLetterPage> {
  const limit = pageLimit(query)
  const after = readCursor(query.cursor)
  const { places, meant } = await filterLetters(store, query)
  const drops = query.error !== undefined || query.slot !== undefined
  const atOnce = drops ? LETTERS_AT_ONCE : limit
  const page = await readPage(places({ after, expected: atOnce }), { limit, read: meant, atOnce })
  const rows = await Promise.all(page.rows.map(async ({ job, id }) => (await readDeadLetterRows(store, job, [id]))[0]))
  const total = query.count === 'if-quick' ? await quickCount(store, query) : await countLetters(store, query)
  return { rows: rows.filter((row) => row !== undefined), next: page.next, total }
}

/** How many open dead letters a filter means. A filter by error reads them all, in batches. */
export async function countLetters(store: Store, filter: DeadLetterFilter): Promise<number> {
  const quick = await quickCount(store, filter)
  if (quick !== undefined) return quick
  let count = 0
  for await (const batch of eachMeantBatch(store, filter)) count += batch.length
  return count
}

/** How many a filter means, where Redis has counted them. */
async function quickCount(store: Store, filter: DeadLetterFilter): Promise<number | undefined> {
  const { job, slot, error, fromAt, toAt } = filter
  if (error !== undefined) return undefined
  if (slot === undefined) {
    const jobs = job === undefined ? await listJobNames(store) : [job]
    const counts = await Promise.all(jobs.map((name) => countDeadLetters(store, name, { fromAt, toAt })))
    return counts.reduce((sum, count) => sum + count, 0)
  }
  const run = runOfSlot(slot)
  if (fromAt !== undefined || toAt !== undefined) return undefined
  return job === undefined || job === run.job ? await countDeadLettersOf(store, run) : 0
}

/**
 * The job whose dead letter an id names. Only the canonical form passes: anything else could name another key.
 *
 * @throws CronceError CRONCE_DEAD_LETTER_UNKNOWN
 */
export function jobOfLetter(id: string): string {
  try {
    const { slot, entity } = parseDeadLetterId(id)
    if (formatDeadLetterId(slot, entity) === id || formatDoneLetterId(slot) === id) return parseSlotKey(slot).job
  } catch {
    // Not even a slot key leads it.
  }
  throw new CronceError('CRONCE_DEAD_LETTER_UNKNOWN', { id: id.slice(0, 1_000) })
}
