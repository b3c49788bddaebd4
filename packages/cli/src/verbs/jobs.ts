import { type JobRow, listJobs } from '@cronce/operations'
import type { Answer } from '../answer.ts'
import type { Context } from '../context.ts'
import { pauseJson } from '../json/pause-json.ts'
import { readCount } from '../option-values.ts'
import { withService } from '../service-connection.ts'
import { durationText } from '../text/duration-text.ts'
import { isoText, utcText } from '../text/instant-text.ts'
import { pauseText } from '../text/pause-text.ts'
import { stateCell } from '../text/run-text.ts'
import { describeSchedule } from '../text/schedule-text.ts'
import { table } from '../text/table.ts'

export interface JobsOptions {
  readonly limit?: string
  readonly cursor?: string
}

/** `jobs`: every job with what comes next and what was last. */
export async function jobs(context: Context, options: JobsOptions): Promise<Answer> {
  const limit = readCount('--limit', options.limit ?? '100', { least: 1, most: 1_000 })
  const page = await withService(context, ({ store }) => listJobs(store, { limit, cursor: options.cursor }))
  return {
    json: { jobs: page.rows.map(jobJson), next: page.next ?? null },
    text: () => {
      const { width, paint } = context.terminal
      const columns = [
        { title: 'job' },
        { title: 'next' },
        { title: 'utc' },
        { title: 'last' },
        { title: 'dead' },
        { title: 'schedule' },
      ]
      const lines = table({ columns, rows: page.rows.map(jobCells), width, paint })
      if (lines.length === 0) return [' no jobs']
      return page.next === undefined ? lines : [...lines, ` more: --cursor ${page.next}`]
    },
  }
}

function jobCells({ name, settings, fault, next, last, deadLetters, stored }: JobRow) {
  const schedule = settings === undefined ? `cannot be read here: ${fault}` : describeSchedule(settings.schedule)
  const spreadMs = next === undefined ? 0 : next.startsAt - Date.parse(next.at)
  return [
    name,
    stored.pause === undefined ? (next?.display ?? '-') : pauseText(stored.pause),
    next === undefined ? '-' : utcText(Date.parse(next.at)),
    last === undefined ? '-' : stateCell(last.state),
    deadLetters === 0 ? '-' : { text: String(deadLetters), tone: 'bad' as const },
    spreadMs === 0 ? schedule : `${schedule}, starts ${durationText(spreadMs)} later (spread)`,
  ]
}

function jobJson({
  name,
  settings,
  fault,
  next,
  last,
  deadLetters,
  stored,
}: JobRow): Readonly<Record<string, unknown>> {
  return {
    job: name,
    schedule: settings === undefined ? null : describeSchedule(settings.schedule),
    fault: fault === '' ? null : fault,
    onCrash: settings?.onCrash ?? null,
    overlap: settings?.overlap ?? null,
    queue: settings?.enqueue?.queue ?? settings?.queue ?? null,
    generation: stored.generation,
    since: isoText(stored.sinceAt),
    paused: stored.pause === undefined ? null : pauseJson(stored.pause),
    next:
      next === undefined
        ? null
        : { at: next.at, local: next.local, startsAt: isoText(next.startsAt), note: next.note ?? null },
    last: last === undefined ? null : { slot: last.slot, at: isoText(last.at), state: last.state },
    deadLetters,
  }
}
