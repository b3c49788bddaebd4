import { formatDuration } from '../duration.ts'
import { compiled } from './compiled.ts'
import { transitionDays } from './explain.ts'
import type { Schedule } from './schedule.ts'
import { nextSlot, slotsBetween } from './slots.ts'
import { spreadOffsetMs } from './spread.ts'

/** What the lint looks at of a job. */
export interface ScheduledJob {
  readonly name: string
  readonly schedule: Schedule
  readonly timeoutMs?: number
  readonly toleranceStartMs?: number
  readonly toleranceFinishMs?: number
}

export type ScheduleWarningKind =
  | 'transition'
  | 'both-days'
  | 'faster-than-timeout'
  | 'faster-than-tolerance'
  | 'pile-up'

/** Something about a schedule that is legal and often not meant. */
export interface ScheduleWarning {
  /** The job, or for a pile-up the first of its jobs. */
  readonly job: string
  readonly kind: ScheduleWarningKind
  readonly text: string
  /** Every job of a pile-up. */
  readonly jobs?: readonly string[]
}

export interface ScheduleLintOptions {
  /** Epoch milliseconds: where the year, and for pile-ups the week, that is looked at begins. */
  readonly from: number
  /** Jobs in one second that count as a pile-up. Default 10. */
  readonly pileUp?: number
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const YEAR_MS = 366 * DAY_MS
const WEEK_MS = 7 * DAY_MS

/** Slots walked to find the shortest interval of a schedule. */
const MOST_INTERVALS = 1_000

/** A job that fires more often meets every other one sooner or later. */
const SHORTEST_PILED_MS = 300_000

const DEFAULT_PILE_UP = 10

/** Warnings about the schedules of all jobs, job by job in the given order, pile-ups last. The schedules must be valid. */
export function scheduleWarnings(
  jobs: readonly ScheduledJob[],
  options: ScheduleLintOptions,
): readonly ScheduleWarning[] {
  const shortest = new Map(jobs.map((job) => [job.name, shortestIntervalMs(job.schedule, options.from)]))
  const ofJobs = jobs.flatMap((job) => [
    ...transitionDays(job.schedule, options.from, options.from + YEAR_MS).map(
      ({ date, text }): ScheduleWarning => ({ job: job.name, kind: 'transition', text: `${date} ${text}` }),
    ),
    ...bothDays(job),
    ...tooOften(job, shortest.get(job.name) ?? Number.POSITIVE_INFINITY),
  ])
  const piled = jobs.filter(({ name }) => (shortest.get(name) ?? 0) >= SHORTEST_PILED_MS)
  return [...ofJobs, ...pileUps(piled, options)]
}

function bothDays({ name, schedule }: ScheduledJob): readonly ScheduleWarning[] {
  if (schedule.kind !== 'cron' || !compiled(schedule).plan.isEitherDay) return []
  const text = `"${schedule.expression}" restricts day of month and day of week: it runs on days that match either, not only where both do`
  return [{ job: name, kind: 'both-days', text }]
}

function tooOften(job: ScheduledJob, intervalMs: number): readonly ScheduleWarning[] {
  const warnings: ScheduleWarning[] = []
  const every = `has slots ${formatDuration(intervalMs)} apart`
  if (job.timeoutMs !== undefined && intervalMs < job.timeoutMs) {
    warnings.push({
      job: job.name,
      kind: 'faster-than-timeout',
      text: `${every}, less than its timeout of ${formatDuration(job.timeoutMs)}`,
    })
  }
  for (const [which, toleranceMs] of [
    ['start', job.toleranceStartMs],
    ['finish', job.toleranceFinishMs],
  ] as const) {
    if (toleranceMs === undefined || intervalMs >= toleranceMs) continue
    warnings.push({
      job: job.name,
      kind: 'faster-than-tolerance',
      text: `${every}, less than its ${which} tolerance of ${formatDuration(toleranceMs)}`,
    })
  }
  return warnings
}

function shortestIntervalMs(schedule: Schedule, fromMs: number): number {
  if (schedule.kind === 'every') return schedule.periodMs
  let shortestMs = Number.POSITIVE_INFINITY
  let last = nextSlot(schedule, fromMs)
  for (let walked = 0; last !== undefined && walked < MOST_INTERVALS && last < fromMs + YEAR_MS; walked += 1) {
    const next = nextSlot(schedule, last)
    if (next === undefined) break
    shortestMs = Math.min(shortestMs, next - last)
    last = next
  }
  return shortestMs
}

function pileUps(
  jobs: readonly ScheduledJob[],
  { from, pileUp = DEFAULT_PILE_UP }: ScheduleLintOptions,
): readonly ScheduleWarning[] {
  const bySecond = new Map<number, string[]>()
  for (const { name, schedule } of jobs) {
    const offsetMs = spreadOffsetMs(name, schedule)
    // What runs within the hour shows all its meetings in a day.
    const lengthMs = (nextSlot(schedule, from) ?? from) - from <= HOUR_MS ? DAY_MS : WEEK_MS
    for (const slot of slotsBetween(schedule, from, from + lengthMs)) {
      const names = bySecond.get(slot + offsetMs)
      if (names === undefined) bySecond.set(slot + offsetMs, [name])
      else names.push(name)
    }
  }
  const piles = [...bySecond]
    .filter(([, names]) => names.length >= pileUp)
    .toSorted(([one, a], [other, b]) => b.length - a.length || one - other)
  const told = new Set<string>()
  return piles.flatMap(([at, names]): readonly ScheduleWarning[] => {
    // The same jobs meet again every day; a pile is told again only where as many others are in it.
    if (names.filter((name) => !told.has(name)).length < pileUp) return []
    for (const name of names) told.add(name)
    const shown = names.length > 4 ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} more` : names.join(', ')
    const text = `${names.length} jobs start in one second, such as ${new Date(at).toISOString()}: ${shown}; a spread would part them`
    return [{ job: names[0] as string, kind: 'pile-up', text, jobs: names }]
  })
}
