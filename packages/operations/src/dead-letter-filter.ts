import { formatSlotId, parseSlotKey } from '@cronce/core'
import { deadLetterMarks, deadLetterMarksOf, listJobNames, type Store } from '@cronce/store'
import { type DeadLetterRow, readDeadLetterRows } from './dead-letter-row.ts'
import { requireJob } from './known-job.ts'
import { type MarkSource, mergeMarks } from './merged-marks.ts'
import type { Place } from './page.ts'
import { requireText } from './request-faults.ts'

/** Which open dead letters are meant; all that are given must fit. */
export interface DeadLetterFilter {
  readonly job?: string | undefined
  /** A slot key. */
  readonly slot?: string | undefined
  /** A part of the newest error's `name: message`, or the reason of the death, as it is written. */
  readonly error?: string | undefined
}

const LONGEST_ERROR = 1_000

/** Letters read at once where many are looked through. */
const BATCH = 500

/** Where the letters are that a filter may mean, and which of them it means. */
export interface FilteredLetters {
  readonly sources: readonly MarkSource[]
  readonly read: (places: readonly Place[]) => Promise<(DeadLetterRow | undefined)[]>
}

/** @throws CronceError CRONCE_JOB_UNKNOWN, CRONCE_SLOT_KEY_INVALID, CRONCE_INPUT_INVALID */
export async function filterLetters(store: Store, filter: DeadLetterFilter): Promise<FilteredLetters> {
  const { error } = filter
  if (error !== undefined) requireText('error', error, LONGEST_ERROR)
  return {
    sources: await sourcesOf(store, filter),
    read: async (places) => {
      const rows = await readPlaces(store, places)
      return rows.map((row) => (row !== undefined && isMeant(row, filter) ? row : undefined))
    },
  }
}

/** Every open dead letter that a filter means, newest first. */
export async function* eachLetter(
  store: Store,
  filter: DeadLetterFilter,
): AsyncGenerator<DeadLetterRow, void, undefined> {
  const { sources, read } = await filterLetters(store, filter)
  let batch: Place[] = []
  for await (const place of mergeMarks(sources, { after: undefined, expected: BATCH * Math.max(1, sources.length) })) {
    batch.push(place)
    if (batch.length < BATCH) continue
    yield* (await read(batch)).filter((row) => row !== undefined)
    batch = []
  }
  yield* (await read(batch)).filter((row) => row !== undefined)
}

async function sourcesOf(store: Store, { job, slot }: DeadLetterFilter): Promise<MarkSource[]> {
  if (slot !== undefined) {
    const parsed = parseSlotKey(slot)
    const run = { job: parsed.job, id: formatSlotId(parsed.at, parsed.manual) }
    await requireJob(store, run.job)
    return [{ name: run.job, marks: (query) => deadLetterMarksOf(store, run, query) }]
  }
  const jobs = job === undefined ? await listJobNames(store) : [(await requireJob(store, job)).stored.name]
  return jobs.map((name) => ({ name, marks: (query) => deadLetterMarks(store, name, query) }))
}

async function readPlaces(store: Store, places: readonly Place[]): Promise<(DeadLetterRow | undefined)[]> {
  return await Promise.all(places.map(async ({ source, id }) => (await readDeadLetterRows(store, source, [id]))[0]))
}

function isMeant(row: DeadLetterRow, { job, error }: DeadLetterFilter): boolean {
  if (row.state !== 'open') return false
  if (job !== undefined && row.job !== job) return false
  if (error === undefined) return true
  const newest = row.error === undefined ? '' : `${row.error.name}: ${row.error.message}`
  return newest.includes(error) || row.reason === error
}
