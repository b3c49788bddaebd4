import { parseJobSettings, type Schedule } from '@cronce/core'
import { type JournalEntry, listGenerations, listRegistrations, readJournal, type Store } from '@cronce/store'
import { type KnownJob, requireJob } from './known-job.ts'

/** One generation of a job, and when it was in force. Instants in epoch ms. */
export interface GenerationRow {
  readonly generation: number
  /** Slots after this are its own ... */
  readonly sinceAt: number
  /** ... and up to this, the start of the next, or the removal before it. Undefined: it is in force. */
  readonly untilAt: number | undefined
  readonly image: string
  /** Who registered it, or closed the one before it. */
  readonly by: string
  /** Undefined where this release cannot read it. */
  readonly schedule: Schedule | undefined
}

/** What happened to a job, whoever did it: people's changes and registrations in one order of time. */
export type JobEvent = JournalEntry & {
  /** Of a registration. */
  readonly image: string | undefined
}

/** A job as an operator looks at it when it did something odd. */
export interface JobHistory extends KnownJob {
  /** Oldest first. */
  readonly generations: readonly GenerationRow[]
  /** Oldest first: paused, resumed, removed, renamed, pin, registered, changed, edited. */
  readonly events: readonly JobEvent[]
}

/**
 * A job's definitions over time and what was done to it. What became of its slots is in its runs.
 *
 * @throws CronceError CRONCE_JOB_UNKNOWN
 */
export async function jobHistory(store: Store, name: string): Promise<JobHistory> {
  const [job, generations, registrations, journal] = await Promise.all([
    requireJob(store, name),
    listGenerations(store, name),
    listRegistrations(store, name),
    readJournal(store, name),
  ])
  const rows = generations.map(({ generation, sinceAt, image, by, settings }, index): GenerationRow => {
    const next = generations[index + 1]
    const schedule = parseJobSettings(settings).ok?.schedule
    return { generation, sinceAt, untilAt: next?.goneAt ?? next?.sinceAt, image, by, schedule }
  })
  const starts = rows.map(({ generation, sinceAt, by, image }, index) => {
    const isNew = index === 0 || generations[index]?.goneAt !== undefined
    return { at: sinceAt, event: isNew ? 'registered' : 'edited', by, note: `generation ${generation}`, image }
  })
  // A registration that began no generation changed what is no part of the schedule.
  const changes = registrations
    .filter(({ at, image }) => !rows.some((row) => row.image === image && row.sinceAt >= at))
    .map(({ at, by, image }) => ({ at, event: 'changed', by, note: '', image }))
  const events = [...journal.map((entry) => ({ ...entry, image: undefined })), ...starts, ...changes]
  return { ...job, generations: rows, events: events.toSorted((a, b) => a.at - b.at) }
}
