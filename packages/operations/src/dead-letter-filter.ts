import { formatSlotId, parseSlotId, parseSlotKey, type SlotKey, slotKeyOf } from '@cronce/core'
import {
  deadLetterMarks,
  deadLetterMarksOf,
  listJobNames,
  type OpenLetter,
  type RunRef,
  readOpenLetters,
  type Store,
} from '@cronce/store'
import { grouped } from './grouped.ts'
import { requireJob } from './known-job.ts'
import { type MarkSource, mergeMarks } from './merged-marks.ts'
import type { Place } from './page.ts'
import { refused, requireText } from './request-faults.ts'

/** Which open dead letters are meant; all that are given must fit. */
export interface DeadLetterFilter {
  readonly job?: string | undefined
  /** A slot key. */
  readonly slot?: string | undefined
  /** A part of the newest error's `name: message`, or the reason of the death, as it is written. */
  readonly error?: string | undefined
  /** Last death at this instant or later, epoch ms. */
  readonly fromAt?: number | undefined
  /** Last death before this instant, epoch ms. */
  readonly toAt?: number | undefined
}

/** An open dead letter that a filter means. */
export interface MeantLetter extends OpenLetter {
  readonly job: string
  readonly slot: SlotKey
}

const LONGEST_ERROR = 1_000

/** Letters looked at with one command. */
export const LETTERS_AT_ONCE = 500

/** Where the letters are that a filter may mean, and which of them it means. */
export interface FilteredLetters {
  /** All of them, or those after a place, newest first. `expected`: how many will be asked for. */
  readonly places: (options: { after?: Place | undefined; expected: number }) => AsyncGenerator<Place, void, undefined>
  readonly meant: (places: readonly Place[]) => Promise<(MeantLetter | undefined)[]>
}

/** @throws CronceError CRONCE_JOB_UNKNOWN, CRONCE_SLOT_KEY_INVALID, CRONCE_INPUT_INVALID */
export async function filterLetters(store: Store, filter: DeadLetterFilter): Promise<FilteredLetters> {
  const { job, error, fromAt, toAt } = filter
  if (error !== undefined) requireText('error', error, LONGEST_ERROR)
  if (fromAt !== undefined && toAt !== undefined && fromAt >= toAt) {
    throw refused('to', 'an instant after from', new Date(toAt).toISOString())
  }
  const sources = await sourcesOf(store, filter)
  return {
    places: ({ after, expected }) => within(sources, filter, { after, expected }),
    meant: async (places) => {
      const letters = await readPlaces(store, places, error)
      return letters.map((letter) => (job === undefined || letter?.job === job ? letter : undefined))
    },
  }
}

/** Every open dead letter that a filter means, newest first, some hundreds at a time. Letters may be closed while it goes on. */
export async function* eachMeantBatch(
  store: Store,
  filter: DeadLetterFilter,
): AsyncGenerator<readonly MeantLetter[], void, undefined> {
  const { places, meant } = await filterLetters(store, filter)
  let batch: Place[] = []
  for await (const place of places({ expected: LETTERS_AT_ONCE })) {
    batch.push(place)
    if (batch.length < LETTERS_AT_ONCE) continue
    yield (await meant(batch)).filter((letter) => letter !== undefined)
    batch = []
  }
  yield (await meant(batch)).filter((letter) => letter !== undefined)
}

/** The run that a slot key names. */
export function runOfSlot(slot: string): RunRef {
  const { job, at, manual } = parseSlotKey(slot)
  return { job, id: formatSlotId(at, manual) }
}

async function* within(
  sources: readonly MarkSource[],
  { fromAt = Number.NEGATIVE_INFINITY, toAt }: DeadLetterFilter,
  { after, expected }: { after: Place | undefined; expected: number },
): AsyncGenerator<Place, void, undefined> {
  // The first place there can be of those that died before `toAt`: no id stands before it.
  const first = toAt === undefined ? undefined : { at: toAt, source: LAST, id: '' }
  const isFirst = after === undefined || (toAt !== undefined && after.at >= toAt)
  for await (const place of mergeMarks(sources, { after: isFirst ? first : after, expected })) {
    if (place.at < fromAt) return
    yield place
  }
}

/** Behind every name of a job. */
const LAST = '\uffff'

async function sourcesOf(store: Store, { job, slot }: DeadLetterFilter): Promise<MarkSource[]> {
  if (slot !== undefined) {
    const run = runOfSlot(slot)
    await requireJob(store, run.job)
    return [{ name: run.job, marks: (query) => deadLetterMarksOf(store, run, query) }]
  }
  const jobs = job === undefined ? await listJobNames(store) : [(await requireJob(store, job)).stored.name]
  return jobs.map((name) => ({ name, marks: (query) => deadLetterMarks(store, name, query) }))
}

async function readPlaces(
  store: Store,
  places: readonly Place[],
  text: string | undefined,
): Promise<(MeantLetter | undefined)[]> {
  const letters: (MeantLetter | undefined)[] = places.map(() => undefined)
  const byJob = grouped(places.entries(), ([, { source }]) => source)
  await Promise.all(
    [...byJob].map(async ([job, entries]) => {
      const found = await readOpenLetters(store, job, { ids: entries.map(([, { id }]) => id), text })
      for (const [index, letter] of found.entries()) {
        const at = entries[index]?.[0]
        if (at === undefined || letter === undefined || parseSlotId(letter.slotId) === undefined) continue
        letters[at] = { ...letter, job, slot: slotKeyOf({ job, id: letter.slotId }) }
      }
    }),
  )
  return letters
}
