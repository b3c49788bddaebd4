import { type JobSettings, nextSlot, previewSlots, type SlotPreview, spreadOffsetMs } from '@cronce/core'
import { countDeadLetters, listJobNames, listSlots, readTime, type Store, type StoredJob } from '@cronce/store'
import { findJob } from './known-job.ts'
import { type Page, type PageRequest, pageLimit, readCursor, writeCursor } from './page.ts'
import { type RunRow, rowOfRun } from './run-row.ts'

/** A job, as an operator looks at it first. */
export interface JobRow {
  readonly name: string
  readonly stored: StoredJob
  /** Undefined where this release cannot read them: `fault` says why, and nothing else of the job is hidden by it. */
  readonly settings: JobSettings | undefined
  readonly fault: string
  /** The next slot; `startsAt` (epoch ms) is later by the spread. Undefined where none comes, or none is known. */
  readonly next: (SlotPreview & { readonly startsAt: number }) | undefined
  readonly last: RunRow | undefined
  readonly deadLetters: number
}

/**
 * The service's jobs by name, with what comes next and what was last.
 *
 * @throws CronceError CRONCE_INPUT_INVALID
 */
export async function listJobs(store: Store, request: PageRequest = {}): Promise<Page<JobRow>> {
  const limit = pageLimit(request)
  const after = readCursor(request.cursor)?.id
  const names = (await listJobNames(store)).toSorted().filter((name) => after === undefined || name > after)
  const now = await readTime(store)
  const shown = names.slice(0, limit)
  const rows = await Promise.all(shown.map((name) => readJobRow(store, name, now)))
  const last = shown.at(-1)
  const hasMore = last !== undefined && names.length > shown.length
  return {
    rows: rows.filter((row) => row !== undefined),
    next: hasMore ? writeCursor({ at: 0, source: 'jobs', id: last }) : undefined,
  }
}

async function readJobRow(store: Store, name: string, now: number): Promise<JobRow | undefined> {
  const [job, newest, deadLetters] = await Promise.all([
    findJob(store, name),
    listSlots(store, name, { limit: 1 }),
    countDeadLetters(store, name),
  ])
  if (job === undefined) return undefined
  const [last] = newest
  const { settings } = job
  const next = settings === undefined ? undefined : nextOf(settings, now)
  return { name, ...job, next, last: last === undefined ? undefined : rowOfRun(last), deadLetters }
}

function nextOf({ name, schedule }: JobSettings, now: number): JobRow['next'] {
  const at = nextSlot(schedule, now)
  if (at === undefined) return undefined
  const [slot] = previewSlots(schedule, { from: at - 1, count: 1 })
  return slot === undefined ? undefined : { ...slot, startsAt: at + spreadOffsetMs(name, schedule) }
}
