import { CronceError, formatDeadLetterId, formatDoneLetterId, parseDeadLetterId, parseSlotKey } from '@cronce/core'
import { countDeadLetters, type DeadLetter, listJobNames, readDeadLetter, type Store } from '@cronce/store'
import { type DeadLetterFilter, eachLetter, filterLetters } from './dead-letter-filter.ts'
import type { DeadLetterRow } from './dead-letter-row.ts'
import { mergeMarks, readPage } from './merged-marks.ts'
import { type Page, type PageRequest, pageLimit, readCursor } from './page.ts'

export interface DeadLetterPage extends Page<DeadLetterRow> {
  /** Open dead letters that the filter means, on all pages. */
  readonly total: number
}

/**
 * Open dead letters, newest first.
 *
 * @throws CronceError CRONCE_JOB_UNKNOWN, CRONCE_SLOT_KEY_INVALID, CRONCE_INPUT_INVALID
 */
export async function listDeadLetters(
  store: Store,
  query: DeadLetterFilter & PageRequest = {},
): Promise<DeadLetterPage> {
  const limit = pageLimit(query)
  const after = readCursor(query.cursor)
  const { sources, read } = await filterLetters(store, query)
  const page = await readPage(mergeMarks(sources, { after, expected: limit }), { limit, read })
  return { ...page, total: await countLetters(store, query) }
}

/** How many open dead letters a filter means. A filter by slot or error reads them all, in batches. */
export async function countLetters(store: Store, filter: DeadLetterFilter): Promise<number> {
  if (filter.slot === undefined && filter.error === undefined) {
    const jobs = filter.job === undefined ? await listJobNames(store) : [filter.job]
    const counts = await Promise.all(jobs.map((job) => countDeadLetters(store, job)))
    return counts.reduce((sum, count) => sum + count, 0)
  }
  let count = 0
  for await (const letter of eachLetter(store, filter)) count += letter.state === 'open' ? 1 : 0
  return count
}

/**
 * One dead letter with its payload and every error that is kept, whatever its state.
 *
 * @throws CronceError CRONCE_DEAD_LETTER_UNKNOWN
 */
export async function showDeadLetter(store: Store, id: string): Promise<DeadLetter> {
  const letter = await readDeadLetter(store, jobOfLetter(id), id)
  if (letter === undefined) throw new CronceError('CRONCE_DEAD_LETTER_UNKNOWN', { id })
  return letter
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
