import { type Clock, systemClock, waitFor } from '@cronce/core'
import type { MeantLetter } from './dead-letter-filter.ts'
import { grouped } from './grouped.ts'
import type { LetterSelection, SelectedLetters, SettledLetters } from './letter-selection.ts'
import type { Operator } from './operator.ts'
import { Pace } from './pace.ts'

/** What every change of many dead letters is asked with. */
export interface LetterChangeRequest {
  readonly selection: LetterSelection
  readonly operator: Operator
  /** What died after this instant, or again, is not meant: who asks has not seen it. Epoch ms by Redis; later than now is now. Default: now. */
  readonly diedUntil?: number | undefined
  /** The least time between two dead letters, ms; up to a second's worth go together. Default: as fast as it goes. */
  readonly intervalMs?: number | undefined
  /** Default: the machine's. */
  readonly clock?: Clock | undefined
  /** Ends the change after the script in hand; the same call again goes on with what is still open. */
  readonly signal?: AbortSignal | undefined
  /** Told what is to be done, before any of it is. */
  readonly onPlan?: ((plan: LetterPlan) => void) | undefined
  /** Told after every script. */
  readonly onProgress?: ((progress: LetterProgress) => void) | undefined
}

/** What a change of dead letters would come to. */
export interface LetterPlan {
  readonly entities: number
  readonly runs: number
  /** Abandoned ones that the filter meant and that are left. */
  readonly abandonedLeft: number
  readonly settled: SettledLetters
}

export interface LetterProgress {
  /** Dead letters that have had their turn. */
  readonly ended: number
  readonly total: number
}

/** What a change came to. The plan's entities are the sum of the three counts. */
export interface LetterChange {
  readonly entities: number
  readonly runs: number
  /** Found changed when their turn came, by another or by themselves, or not to be changed: left as they are. */
  readonly unchanged: number
  /** Still open, because it was told to stop. */
  readonly left: number
}

/** One script takes no more (A5). */
const MOST_PER_SCRIPT = 100

export interface LetterWork {
  readonly selected: SelectedLetters
  readonly takes: (letter: MeantLetter) => boolean
}

/** Looks at all that is meant, and keeps none of it: a million letters are counts, their jobs and their runs. */
export async function planChange({ selected, takes }: LetterWork): Promise<LetterPlan & { jobs: ReadonlySet<string> }> {
  const [jobs, runs] = [new Set<string>(), new Set<string>()]
  let entities = 0
  let abandonedLeft = 0
  for await (const batch of selected.batches()) {
    for (const letter of batch) {
      if (!takes(letter)) {
        abandonedLeft += 1
        continue
      }
      entities += 1
      jobs.add(letter.job)
      runs.add(letter.slot)
    }
  }
  return { entities, runs: runs.size, abandonedLeft, settled: selected.settled, jobs }
}

export interface LetterScript {
  /** Letters of one value go into one script. */
  readonly together: (letter: MeantLetter) => string
  /** Changes at most {@link MOST_PER_SCRIPT} letters and answers how many it changed. */
  readonly run: (letters: readonly [MeantLetter, ...MeantLetter[]]) => Promise<number>
  /** Whether what it makes can be taken in; asked again until it can. Default: always. */
  readonly hasRoom?: (letter: MeantLetter) => Promise<boolean>
}

/** How often room is looked for, ms. */
const ROOM_EVERY_MS = 250

/** Changes what is meant, script by script, at the pace that was asked for. */
export async function changeLetters(
  { selected, takes }: LetterWork,
  script: LetterScript,
  request: Omit<LetterChangeRequest, 'selection' | 'operator'> & { readonly total: number },
): Promise<LetterChange> {
  const { total, clock = systemClock, signal = new AbortController().signal, intervalMs = 0, onProgress } = request
  // Workers may never come: only who can stop the wait is made to wait.
  const hasRoom = (request.signal === undefined ? undefined : script.hasRoom) ?? (() => Promise.resolve(true))
  const pace = new Pace({ intervalMs, clock })
  const most = Math.min(MOST_PER_SCRIPT, pace.together)
  const runs = new Set<string>()
  let [ended, entities] = [0, 0]
  for await (const batch of selected.batches()) {
    for (const letters of slices(batch.filter(takes), script.together, most)) {
      await waitFor(pace.restMs, { clock, signal })
      while (!signal.aborted && !(await hasRoom(letters[0]))) await waitFor(ROOM_EVERY_MS, { clock, signal })
      if (signal.aborted)
        return { entities, runs: runs.size, unchanged: ended - entities, left: Math.max(0, total - ended) }
      const count = await script.run(letters)
      pace.took(count)
      ended += letters.length
      entities += count
      if (count > 0) for (const { slot } of letters) runs.add(slot)
      onProgress?.({ ended: Math.min(ended, total), total })
    }
  }
  return { entities, runs: runs.size, unchanged: Math.max(0, total - entities), left: 0 }
}

function* slices(
  letters: readonly MeantLetter[],
  keyOf: (letter: MeantLetter) => string,
  most: number,
): Generator<readonly [MeantLetter, ...MeantLetter[]], void, undefined> {
  for (const group of grouped(letters, keyOf).values()) {
    for (let start = 0; start < group.length; start += most) {
      const [first, ...rest] = group.slice(start, start + most)
      if (first !== undefined) yield [first, ...rest]
    }
  }
}
