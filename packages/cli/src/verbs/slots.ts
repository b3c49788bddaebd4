import { cron, every, previewSlots, type Schedule, type SlotPreview, spreadOffsetMs } from '@cronce/core'
import type { Answer } from '../answer.ts'
import type { Context } from '../context.ts'
import { InputFaults } from '../input-faults.ts'
import { readCount, readInstant } from '../option-values.ts'
import { durationText } from '../text/duration-text.ts'
import { isoText, utcText } from '../text/instant-text.ts'
import { table } from '../text/table.ts'
import { scheduleOfJob } from './schedule-of-job.ts'

/** The options of `next` and `prev`, as they were typed. */
export interface SlotOptions {
  readonly cron?: string
  readonly every?: string
  readonly offset?: string
  readonly zone?: string
  readonly missingTime?: string
  readonly repeatedTime?: string
  readonly seconds?: boolean
  readonly from?: string
  readonly count?: string
}

const DEFAULT_COUNT = '5'
const MOST_SLOTS = 100_000

/** `next` and `prev`: the slots after, or before, an instant. */
export async function slots(
  context: Context,
  request: { job: string | undefined; options: SlotOptions; direction: 'next' | 'prev' },
): Promise<Answer> {
  const { job, options, direction } = request
  const faults = new InputFaults()
  const { from: fromText } = options
  const from = faults.take(() => (fromText === undefined ? context.clock.now() : readInstant('--from', fromText)))
  const count = faults.take(() => readCount('--count', options.count ?? DEFAULT_COUNT, { least: 1, most: MOST_SLOTS }))
  const written = readSchedule(job, options, faults)
  faults.raise()
  const schedule = written ?? (await scheduleOfJob(context, job ?? ''))
  const startsAfterMs = job === undefined ? 0 : spreadOffsetMs(job, schedule)
  const found = previewSlots(schedule, { from: from ?? 0, count: count ?? 0, direction })
  return {
    json: { slots: found.map((slot) => row(slot, startsAfterMs)) },
    text: () => (found.length === 0 ? [' no slot'] : lines(found, startsAfterMs, context)),
  }
}

/** The schedule that the options write; undefined where a job's is asked for. */
function readSchedule(job: string | undefined, options: SlotOptions, faults: InputFaults): Schedule | undefined {
  const { cron: expression, every: period, offset, zone, missingTime, repeatedTime, seconds } = options
  const named = [job, expression, period].filter((each) => each !== undefined)
  if (named.length !== 1) {
    faults.add(`expected one of a job's name, --cron and --every, got ${named.length === 0 ? 'none' : named.length}`)
    return undefined
  }
  const ofCron = given({
    '--zone': zone,
    '--missing-time': missingTime,
    '--repeated-time': repeatedTime,
    '--seconds': seconds,
  })
  if (expression === undefined && ofCron.length > 0) faults.add(`expected ${ofCron.join(', ')} only beside --cron`)
  if (period === undefined && offset !== undefined) faults.add('expected --offset only beside --every')
  if (expression !== undefined) {
    // The schedule checks its own options, all at once; the types are those of callers in TypeScript.
    const written = { zone, missingTime, repeatedTime, seconds } as Parameters<typeof cron>[1]
    return faults.take(() => cron(expression, withoutUndefined(written ?? {})))
  }
  if (period === undefined) return undefined
  return faults.take(() => every(period, withoutUndefined({ offset })))
}

function given(options: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(options).filter((name) => options[name] !== undefined)
}

function withoutUndefined<Options extends object>(
  options: Options,
): { [Key in keyof Options]: Exclude<Options[Key], undefined> } {
  const entries = Object.entries(options).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as { [Key in keyof Options]: Exclude<Options[Key], undefined> }
}

function row({ at, local, note }: SlotPreview, startsAfterMs: number): Record<string, string | null> {
  const startsAt = startsAfterMs === 0 ? {} : { startsAt: isoText(Date.parse(at) + startsAfterMs) }
  return { at, local, note: note ?? null, ...startsAt }
}

function lines(found: readonly SlotPreview[], startsAfterMs: number, { terminal }: Context): string[] {
  const spread = startsAfterMs === 0 ? '' : `starts ${durationText(startsAfterMs)} later (spread)`
  return table({
    columns: [{ title: 'local' }, { title: 'utc' }, { title: 'note' }],
    rows: found.map(({ display, at, note = '' }) => [
      display,
      utcText(Date.parse(at)),
      [note, spread].filter((each) => each !== '').join('; '),
    ]),
    width: terminal.width,
    paint: terminal.paint,
    titles: 'hidden',
  })
}
