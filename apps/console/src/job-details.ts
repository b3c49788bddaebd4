import { explain, formatSlotId, previewSlots, type Schedule, slotKeyOf, spreadOffsetMs } from '@cronce/core'
import { jobHistory, listOverdue, requireJob, requireSettings } from '@cronce/operations'
import { listGenerations, readTime, type Store } from '@cronce/store'
import type { ClockChangeAnswer, GenerationAnswer, JobDetailsAnswer, NextSlotsAnswer } from './job-answers.ts'
import { localText, zoneOf } from './run-answer.ts'
import { readJobAnswer } from './schedules.ts'
import { scheduleText, settingChanges, settingsWords } from './settings-words.ts'

/** What was done to a job, that is shown: the newest. */
const MOST_EVENTS = 200

/** Generations that are shown: the newest. */
const MOST_GENERATIONS = 50

/**
 * A job with its definition, in words and as stored, and everything that was done to it.
 *
 * @throws CronceError CRONCE_JOB_UNKNOWN
 */
export async function readJobDetails(store: Store, name: string): Promise<JobDetailsAnswer> {
  const [now, history, generations, overdue] = await Promise.all([
    readTime(store),
    jobHistory(store, name),
    listGenerations(store, name),
    listOverdue(store),
  ])
  const job = await readJobAnswer(store, name, { now, overdue: overdue.filter((row) => row.job === name) })
  // Removed between two reads.
  if (job === undefined) return await requireJob(store, name).then(() => readJobDetails(store, name))
  const { stored, settings } = history
  const rows = history.generations.map((row, index): GenerationAnswer => {
    const { generation, sinceAt, untilAt, by, image, schedule } = row
    const before = generations[index - 1]
    return {
      ...{ generation, sinceAt, by, image },
      untilAt: untilAt ?? null,
      schedule: schedule === undefined ? 'unreadable' : `${scheduleText(schedule)} · ${zoneOf(schedule)}`,
      changes: before === undefined ? [] : settingChanges(before.settings, generations[index]?.settings),
    }
  })
  return {
    ...{ now, job, dynamic: stored.dynamic, image: stored.image, registeredAt: stored.registeredAt },
    words: settings === undefined ? [] : settingsWords(settings),
    settings: stored.settings,
    generations: rows.toReversed().slice(0, MOST_GENERATIONS),
    events: history.events
      .toReversed()
      .slice(0, MOST_EVENTS)
      .map(({ at, event, by, note, image }) => ({ at, event, by, note, image: image ?? null })),
    clockChanges: settings === undefined ? [] : clockChangesAfter(settings.schedule, now),
  }
}

export interface NextSlotsRequest {
  /** Slots after this instant, epoch ms; undefined: now. */
  readonly from: number | undefined
  readonly count: number
}

/**
 * The slots to come, as the trigger will see them.
 *
 * @throws CronceError CRONCE_JOB_UNKNOWN, CRONCE_JOB_UNREADABLE
 */
export async function readNextSlots(
  store: Store,
  name: string,
  { from, count }: NextSlotsRequest,
): Promise<NextSlotsAnswer> {
  const [now, { schedule }] = await Promise.all([readTime(store), requireSettings(store, name)])
  const spreadMs = spreadOffsetMs(name, schedule)
  const slots = previewSlots(schedule, { from: from ?? now, count }).map(({ at: text, note }) => {
    const at = Date.parse(text)
    const slot = slotKeyOf({ job: name, id: formatSlotId(at) })
    return { slot, at, local: localText(schedule, at), startsAt: at + spreadMs, note: note ?? null }
  })
  return {
    ...{ now, zone: zoneOf(schedule), slots },
    clockChanges: clockChangesAfter(schedule, now),
    next: slots.length < count ? null : (slots.at(-1)?.at ?? null),
  }
}

const DAY_MS = 86_400_000
const YEAR_DAYS = 366

/** The nights of the year to come on which clocks change under the schedule. */
function clockChangesAfter(schedule: Schedule, now: number): ClockChangeAnswer[] {
  const year = new Date(now).getUTCFullYear()
  const [from, until] = [dateOf(now - DAY_MS), dateOf(now + YEAR_DAYS * DAY_MS)]
  return [year, year + 1]
    .flatMap((each) => explain(schedule, each))
    .filter(({ date }) => date >= from && date <= until)
    .map(({ date, text }) => ({ date, text }))
}

function dateOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
}
