import { CronceError } from '@cronce/core'
import { type DeadLetter, readTime, type Store } from '@cronce/store'
import { type DeadLetterFilter, eachMeantBatch, LETTERS_AT_ONCE, type MeantLetter } from './dead-letter-filter.ts'
import { type DeadLetterRow, readDeadLetterRows } from './dead-letter-row.ts'
import { jobOfLetter } from './list-dead-letters.ts'
import { refused } from './request-faults.ts'

/** Which dead letters a change is for: these, or all that a filter means. */
export type LetterSelection = { readonly ids: readonly string[] } | ({ readonly ids?: undefined } & DeadLetterFilter)

/** Named ones that are not open any more: queued already, resolved or discarded. */
export type SettledLetters = readonly { readonly id: string; readonly state: DeadLetter['state'] }[]

export interface SelectedLetters {
  readonly settled: SettledLetters
  /** When they were selected, or were looked at before, by Redis: what dies later, or again, is not meant. */
  readonly selectedAt: number
  /** Those that are open, some hundreds at a time; as often as asked for. */
  readonly batches: () => AsyncIterable<readonly MeantLetter[]>
}

const MOST_IDS = 10_000

/**
 * Finds what a selection means, as of now or as it was seen. Holds no more than a batch of what a filter means.
 *
 * @throws CronceError CRONCE_DEAD_LETTER_UNKNOWN, CRONCE_JOB_UNKNOWN, CRONCE_SLOT_KEY_INVALID, CRONCE_INPUT_INVALID
 */
export async function selectLetters(
  store: Store,
  { selection, diedUntil }: { readonly selection: LetterSelection; readonly diedUntil?: number | undefined },
): Promise<SelectedLetters> {
  const selectedAt = Math.min(await readTime(store), diedUntil ?? Number.POSITIVE_INFINITY)
  if (selection.ids !== undefined) return { ...(await selectNamed(store, selection.ids)), selectedAt }
  const { job, slot, error, fromAt, toAt } = selection
  if ([job, slot, error, fromAt, toAt].every((value) => value === undefined)) {
    throw refused('selection', 'ids, a job, a slot, an error or a time', undefined)
  }
  const before = Math.min(toAt ?? Number.POSITIVE_INFINITY, selectedAt + 1)
  const meant = { job, slot, error, fromAt, toAt: before }
  // A range that begins later than now means nothing, and is no mistake.
  const isEmpty = fromAt !== undefined && fromAt >= before && (toAt === undefined || fromAt < toAt)
  return { settled: [], selectedAt, batches: () => (isEmpty ? nothing() : eachMeantBatch(store, meant)) }
}

async function* nothing(): AsyncGenerator<readonly MeantLetter[], void, undefined> {
  // It is what it says.
}

async function selectNamed(store: Store, ids: readonly string[]): Promise<Omit<SelectedLetters, 'selectedAt'>> {
  if (ids.length === 0 || ids.length > MOST_IDS) throw refused('ids', `1 to ${MOST_IDS} ids`, ids)
  const unique = [...new Set(ids)]
  const rows = await Promise.all(
    unique.map(async (id) => {
      const [row] = await readDeadLetterRows(store, jobOfLetter(id), [id])
      if (row === undefined) throw new CronceError('CRONCE_DEAD_LETTER_UNKNOWN', { id })
      return row
    }),
  )
  const open = rows.filter(({ state }) => state === 'open').map(meantOf)
  return {
    settled: rows.filter(({ state }) => state !== 'open').map(({ id, state }) => ({ id, state })),
    batches: async function* () {
      for (let start = 0; start < open.length; start += LETTERS_AT_ONCE)
        yield open.slice(start, start + LETTERS_AT_ONCE)
    },
  }
}

function meantOf({ id, job, slot, slotId, entity, reason, at }: DeadLetterRow): MeantLetter {
  return { id, job, slot, slotId, reason, at, of: entity === undefined ? 'run' : 'entity' }
}
