import { type Backoff, type CatchUp, formatDuration, type JobSettings, type Schedule } from '@cronce/core'
import type { SettingChange, Wording } from './job-answers.ts'

/** `every 15m`, `0 2 * * *`: a schedule as its author wrote it. */
export function scheduleText(schedule: Schedule): string {
  if (schedule.kind === 'cron') return schedule.expression
  const offset = schedule.offsetMs === 0 ? '' : ` + ${formatDuration(schedule.offsetMs)}`
  return `every ${formatDuration(schedule.periodMs)}${offset}`
}

/** A definition in words, every field of it. */
export function settingsWords(settings: JobSettings): Wording[] {
  const { schedule, tolerance, expireMs, chunk, retry, limit, enqueue, was, description } = settings
  const words: (Wording | undefined)[] = [
    description === undefined ? undefined : ['What it does', description],
    ['Schedule', scheduleWords(schedule)],
    schedule.kind === 'cron' && schedule.zone !== 'UTC'
      ? ['Clock changes', `${MISSING[schedule.missingTime]}; ${REPEATED[schedule.repeatedTime]}`]
      : undefined,
    schedule.spreadMs === 0
      ? undefined
      : ['Spread', `each job at its own place within ${formatDuration(schedule.spreadMs)} after the slot`],
    ['When a worker dies', ON_CRASH[settings.onCrash]],
    ['After an outage', catchUpWords(settings.catchUp)],
    ['While a run is under way', OVERLAP[settings.overlap]],
    [
      'Overdue',
      `not started ${formatDuration(tolerance.startMs)}, or not ended ${formatDuration(tolerance.finishMs)} after it was due`,
    ],
    expireMs === undefined ? undefined : ['Expires', `not started within ${formatDuration(expireMs)}: it is dropped`],
    ['Chunks', `${chunk.size} entities each, ${chunk.concurrency} entities of one at once`],
    ['Attempts', `${retry.attempts} for each entity, ${backoffWords(retry.backoff)}`],
    limit === undefined ? undefined : ['Limit over all workers', limitWords(limit)],
    ['Longest attempt', formatDuration(settings.timeoutMs)],
    ['Queue', enqueue === undefined ? settings.queue : `${enqueue.queue}, of a plain BullMQ worker (${enqueue.name})`],
    ['Payload version', String(settings.version)],
    was === undefined ? undefined : ['Was called', was],
  ]
  return words.filter((pair) => pair !== undefined)
}

const MISSING = {
  'at-gap-end': 'a local time that does not exist runs at the end of the gap',
  skip: 'a local time that does not exist does not run',
  shift: 'a local time that does not exist runs later by the gap',
} as const

const REPEATED = {
  first: 'one that comes twice runs the first time',
  second: 'one that comes twice runs the second time',
  both: 'one that comes twice runs both times',
} as const

const ON_CRASH = {
  skip: 'skip: what had started is not started again; it is abandoned, for a person to decide',
  complete: 'complete: it is started again, until it succeeds or is a dead letter',
} as const

const OVERLAP = {
  allow: 'allow: the next slot runs beside it',
  skip: 'skip: the next slot is skipped, with the reason',
  queue: 'queue: the newest slot waits for its end',
  'cancel-previous': 'cancel-previous: it is told to stop, then the next slot runs',
} as const

function scheduleWords(schedule: Schedule): string {
  if (schedule.kind === 'every') return `${scheduleText(schedule)}, counted from the epoch in UTC`
  return `${schedule.expression} in ${schedule.zone}${schedule.seconds ? ', seconds first' : ''}`
}

function catchUpWords({ mode, withinMs, atMost }: CatchUp): string {
  if (mode === 'skip') return 'skip: what was missed does not run; it is recorded as missed'
  if (mode === 'latest') return `latest: only the newest missed slot runs, if no later than ${formatDuration(withinMs)}`
  return `late: missed slots run, oldest first, up to ${formatDuration(withinMs)} late and at most ${atMost} per outage`
}

function backoffWords({ type, delayMs, capMs, jitter }: Backoff): string {
  const first = formatDuration(delayMs)
  const spread = jitter === 0 ? '' : `, jitter ${jitter}`
  if (type === 'fixed') return `${first} apart${spread}`
  return `first ${first} apart, then twice as long each time up to ${formatDuration(capMs)}${spread}`
}

function limitWords({ concurrency, rate }: NonNullable<JobSettings['limit']>): string {
  const parts = [
    concurrency === undefined ? '' : `${concurrency} calls at once`,
    rate === undefined ? '' : `${rate.max} entities per ${formatDuration(rate.perMs)}`,
  ]
  return parts.filter((part) => part !== '').join(', ')
}

/** Settings that differ, by their path. */
export function settingChanges(before: unknown, after: unknown): SettingChange[] {
  const [old, fresh] = [flat(before), flat(after)]
  const paths = [...new Set([...old.keys(), ...fresh.keys()])].toSorted()
  return paths.flatMap((path) => {
    const [was, is] = [old.get(path) ?? '', fresh.get(path) ?? '']
    return was === is ? [] : [{ path, before: was, after: is }]
  })
}

function flat(value: unknown, path = '', found = new Map<string, string>()): Map<string, string> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    for (const [name, each] of Object.entries(value)) flat(each, path === '' ? name : `${path}.${name}`, found)
  } else if (path !== '') found.set(path, JSON.stringify(value))
  return found
}
