import { RUN_STATES, type RunState, type Schedule, type SlotId } from '@cronce/core'
import { gapsBackwards, listJobNames, type RecordedGap, readSlot, type Store, slotMarks } from '@cronce/store'
import { findJob, requireJob } from './known-job.ts'
import { type MarkSource, mergeMarks, readPage } from './merged-marks.ts'
import { type Page, type PageRequest, pageLimit, readCursor } from './page.ts'
import { refused } from './request-faults.ts'
import { type RunRow, rowOfGap, rowOfRun } from './run-row.ts'

export interface RunQuery extends PageRequest {
  readonly job?: string | undefined
  readonly state?: RunState | undefined
}

const GAP_ID = 'gap'

/**
 * Runs of one job or of all, newest first, with gaps as rows of their own in the order of time.
 *
 * @throws CronceError CRONCE_JOB_UNKNOWN, CRONCE_INPUT_INVALID
 */
export async function listRuns(store: Store, query: RunQuery = {}): Promise<Page<RunRow>> {
  const limit = pageLimit(query)
  const after = readCursor(query.cursor)
  const { job, state } = query
  if (state !== undefined && !(state in RUN_STATES)) throw refused('state', 'a state of a run', state)
  const jobs = job === undefined ? await listJobNames(store) : [(await requireJob(store, job)).stored.name]
  const gaps = new GapRows(store)
  const sources = jobs.flatMap((name): MarkSource[] => [
    { name: `run ${name}`, marks: (marks) => slotMarks(store, name, marks) },
    { name: `gap ${name}`, marks: (marks) => gaps.marks(name, marks) },
  ])
  const read = (place: { source: string; id: string; at: number }): Promise<RunRow | undefined> => {
    const name = place.source.slice('run '.length)
    return place.source.startsWith('gap ') ? gaps.row(name, place.at) : readRun(store, name, place.id)
  }
  return await readPage(mergeMarks(sources, { after, expected: limit }), {
    limit,
    read: async (places) => {
      const rows = await Promise.all(places.map(read))
      return state === undefined ? rows : rows.map((row) => (row?.state === state ? row : undefined))
    },
  })
}

async function readRun(store: Store, job: string, id: string): Promise<RunRow | undefined> {
  const entry = await readSlot(store, job, id as SlotId)
  return entry === undefined ? undefined : rowOfRun(entry)
}

/** The gaps that were passed on the way, so that they are read once. */
class GapRows {
  readonly #store: Store
  readonly #gaps = new Map<string, RecordedGap>()
  readonly #schedules = new Map<string, Promise<Schedule | undefined>>()

  constructor(store: Store) {
    this.#store = store
  }

  async marks(job: string, query: Parameters<typeof gapsBackwards>[2]): Promise<{ at: number; id: string }[]> {
    const gaps = await gapsBackwards(this.#store, job, query)
    for (const gap of gaps) this.#gaps.set(`${gap.toAt} ${job}`, gap)
    return gaps.map(({ toAt }) => ({ at: toAt, id: GAP_ID }))
  }

  async row(job: string, toAt: number): Promise<RunRow | undefined> {
    const gap = this.#gaps.get(`${toAt} ${job}`)
    return gap === undefined ? undefined : rowOfGap(job, gap, await this.#schedule(job))
  }

  #schedule(job: string): Promise<Schedule | undefined> {
    const known = this.#schedules.get(job)
    if (known !== undefined) return known
    const read = findJob(this.#store, job).then((found) => found?.settings?.schedule)
    this.#schedules.set(job, read)
    return read
  }
}
