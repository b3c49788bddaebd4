import { type JobSettings, nextSlot, type Schedule, spreadOffsetMs } from '@cronce/core'
import {
  countLetters,
  findJob,
  type KnownJob,
  listOverdue,
  listPresence,
  listRuns,
  type OverdueRow,
  type ServiceAccess,
} from '@cronce/operations'
import { listJobNames, listUnended, oldestDeadLetterAt, readTime, type Store } from '@cronce/store'
import type { JobAnswer, RunAnswer, SchedulesAnswer, SummaryAnswer } from './answers.ts'
import { localText, noteAt, overdueAnswer, punctualityMs, runAnswer, zoneOf } from './run-answer.ts'
import { scheduleText } from './settings-words.ts'

/** Bars of a strip. */
const STRIP = 40

/** Jobs whose runs are looked through for those that run now. */
const MOST_LOOKED_THROUGH = 500

/** Unended runs of one job that are looked at. */
const MOST_UNENDED = 20

/** Lateness that nobody minds, where a job cannot be read. */
const DEFAULT_LATE_MS = 60_000

export interface SchedulesRequest {
  readonly limit: number
  /** The name after which the page begins; undefined: the first page, which has all overdue jobs on top. */
  readonly after: string | undefined
  /** A part of the names that are shown, in any case; undefined: all. */
  readonly part?: string | undefined
}

/** The first view: what is overdue, what runs, what died, who lives, and every job's last slots. */
export async function readSchedules(
  { store }: ServiceAccess,
  { limit, after, part }: SchedulesRequest,
): Promise<SchedulesAnswer> {
  const [now, all, overdue] = await Promise.all([readTime(store), listJobNames(store), listOverdue(store)])
  const isShown = (name: string) => part === undefined || name.toLowerCase().includes(part.toLowerCase())
  const names = all.toSorted().filter((name) => isShown(name) && (after === undefined || name > after))
  const byName = groupByJob(overdue)
  const shown = names.slice(0, limit)
  // Those on top are again on the page of their name where that is a later one: the page leaves out what it has.
  const onTop = after === undefined ? [...byName.keys()].filter(isShown).slice(0, limit) : []
  const listed = [...onTop, ...shown.filter((name) => !onTop.includes(name))]
  const [summary, jobs] = await Promise.all([
    readSummary(store, { names: all, overdue }),
    Promise.all(listed.map((name) => readJobAnswer(store, name, { now, overdue: byName.get(name) ?? [] }))),
  ])
  return {
    service: store.service,
    now,
    summary,
    jobs: jobs.filter((job) => job !== undefined),
    next: names.length > shown.length ? (shown.at(-1) ?? null) : null,
  }
}

function groupByJob(rows: readonly OverdueRow[]): Map<string, OverdueRow[]> {
  const groups = new Map<string, OverdueRow[]>()
  for (const row of rows) groups.set(row.job, [...(groups.get(row.job) ?? []), row])
  return groups
}

async function readSummary(
  store: Store,
  { names, overdue }: { names: readonly string[]; overdue: readonly OverdueRow[] },
): Promise<SummaryAnswer> {
  const [presence, letters, running] = await Promise.all([
    listPresence(store),
    readLetterFigures(store, names),
    Promise.all(names.slice(0, MOST_LOOKED_THROUGH).map((name) => readRunning(store, name))),
  ])
  const live = [...presence.replicas, ...presence.workers].filter(({ state }) => state === 'live')
  const replicas = presence.replicas.filter(({ state }) => state === 'live')
  return {
    overdue: overdue.map(overdueAnswer),
    running: running.flat(),
    ...letters,
    replicas: replicas.length,
    workers: live.length - replicas.length,
    releases: [...new Set(live.map(({ release }) => release))].toSorted(),
    skewMs: Math.max(0, ...replicas.map(({ skewMs }) => Math.abs(skewMs))),
  }
}

/** How many open dead letters there are, and since when the oldest is one. */
async function readLetterFigures(
  store: Store,
  names: readonly string[],
): Promise<{ deadLetters: number; oldestDeadAt: number | null }> {
  const total = await countLetters(store, {})
  if (total === 0) return { deadLetters: 0, oldestDeadAt: null }
  const oldest = await Promise.all(names.map((name) => oldestDeadLetterAt(store, name)))
  return { deadLetters: total, oldestDeadAt: Math.min(...oldest.map((at) => at ?? Number.POSITIVE_INFINITY)) }
}

/** Runs of a job that a worker has started and not ended. */
async function readRunning(store: Store, name: string): Promise<RunAnswer[]> {
  const unended = await listUnended(store, name, MOST_UNENDED)
  const running = unended.filter(({ state }) => state === 'running')
  if (running.length === 0) return []
  const job = await findJob(store, name)
  return running.map((entry) => {
    const row = { ...entry, durationMs: undefined, by: entry.claimedBy, gap: undefined }
    return runAnswer(row, contextOf(job?.settings))
  })
}

/** By what the runs of a job are judged. */
export function contextOf(settings: JobSettings | undefined): { schedule: Schedule | undefined; lateBeyondMs: number } {
  return { schedule: settings?.schedule, lateBeyondMs: settings?.tolerance.startMs ?? DEFAULT_LATE_MS }
}

interface JobContext {
  readonly now: number
  readonly overdue: readonly OverdueRow[]
}

/** One job; undefined where it is not known. */
export async function readJobAnswer(store: Store, name: string, context: JobContext): Promise<JobAnswer | undefined> {
  const job = await findJob(store, name)
  if (job === undefined) return undefined
  const [runs, deadLetters] = await Promise.all([
    listRuns(store, { job: name, limit: STRIP }),
    countLetters(store, { job: name }),
  ])
  const slots = runs.rows.map((row) => runAnswer(row, contextOf(job.settings))).toReversed()
  const latenessP50Ms = median(runs.rows.flatMap((row) => punctualityMs(row) ?? []))
  return jobAnswer(job, { ...context, slots, deadLetters, latenessP50Ms })
}

interface JobFigures {
  readonly slots: readonly RunAnswer[]
  readonly deadLetters: number
  readonly latenessP50Ms: number | null
}

function jobAnswer(
  { stored, settings, fault }: KnownJob,
  { now, overdue, slots, deadLetters, latenessP50Ms }: JobContext & JobFigures,
): JobAnswer {
  const { pause, goneAt, name } = stored
  const nextAt = settings === undefined || goneAt !== undefined ? undefined : nextSlot(settings.schedule, now)
  return {
    name,
    schedule: settings === undefined ? 'unreadable' : scheduleText(settings.schedule),
    zone: zoneOf(settings?.schedule),
    queue: settings?.queue ?? null,
    onCrash: settings?.onCrash ?? null,
    description: settings?.description ?? null,
    fault,
    pause:
      pause === undefined
        ? null
        : { state: pause.state, by: pause.by, note: pause.note, at: pause.at, untilAt: pause.untilAt ?? null },
    gone: goneAt !== undefined,
    next: settings === undefined || nextAt === undefined ? null : nextOf(settings, nextAt),
    latenessP50Ms,
    tookMs: median(slots.flatMap(({ durationMs }) => durationMs ?? [])),
    intervalMs: settings === undefined || nextAt === undefined ? null : intervalAfter(settings.schedule, nextAt),
    deadLetters,
    overdue: overdue.map(overdueAnswer),
    running: slots.findLast(({ mark }) => mark === 'running') ?? null,
    slots,
  }
}

function nextOf({ name, schedule }: JobSettings, at: number): JobAnswer['next'] {
  const startsAt = at + spreadOffsetMs(name, schedule)
  return { at, local: localText(schedule, at), startsAt, note: noteAt(schedule, at) ?? null }
}

function intervalAfter(schedule: Schedule, at: number): number | null {
  const following = nextSlot(schedule, at)
  return following === undefined ? null : following - at
}

function median(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? null
}
