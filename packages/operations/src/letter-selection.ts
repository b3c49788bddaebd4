import { CronceError } from '@cronce/core'
import type { DeadLetter, Store } from '@cronce/store'
import { type DeadLetterFilter, eachLetter } from './dead-letter-filter.ts'
import { type DeadLetterRow, readDeadLetterRows } from './dead-letter-row.ts'
import { jobOfLetter } from './list-dead-letters.ts'
import { refused } from './request-faults.ts'

/** Which dead letters a change is for: these, or all that a filter means. */
export type LetterSelection = { readonly ids: readonly string[] } | ({ readonly ids?: undefined } & DeadLetterFilter)

export interface SelectedLetters {
  readonly open: readonly DeadLetterRow[]
  /** Named ones that are not open any more: queued already, resolved or discarded. */
  readonly settled: readonly { readonly id: string; readonly state: DeadLetter['state'] }[]
}

const MOST_IDS = 10_000

/**
 * Finds what a selection means, all of it before anything is changed.
 *
 * @throws CronceError CRONCE_DEAD_LETTER_UNKNOWN, CRONCE_JOB_UNKNOWN, CRONCE_SLOT_KEY_INVALID, CRONCE_INPUT_INVALID
 */
export async function selectLetters(store: Store, selection: LetterSelection): Promise<SelectedLetters> {
  if (selection.ids !== undefined) return await selectNamed(store, selection.ids)
  const { job, slot, error } = selection
  if (job === undefined && slot === undefined && error === undefined) {
    throw refused('selection', 'ids, a job, a slot or an error', undefined)
  }
  const open: DeadLetterRow[] = []
  for await (const letter of eachLetter(store, { job, slot, error })) open.push(letter)
  return { open, settled: [] }
}

async function selectNamed(store: Store, ids: readonly string[]): Promise<SelectedLetters> {
  if (ids.length === 0 || ids.length > MOST_IDS) throw refused('ids', `1 to ${MOST_IDS} ids`, ids)
  const unique = [...new Set(ids)]
  const rows = await Promise.all(
    unique.map(async (id) => {
      const [row] = await readDeadLetterRows(store, jobOfLetter(id), [id])
      if (row === undefined) throw new CronceError('CRONCE_DEAD_LETTER_UNKNOWN', { id })
      return row
    }),
  )
  return {
    open: rows.filter(({ state }) => state === 'open'),
    settled: rows.filter(({ state }) => state !== 'open').map(({ id, state }) => ({ id, state })),
  }
}
