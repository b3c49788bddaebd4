import { type JobSettings, nextSlot, parseJobSettings } from '@cronce/core'
import { type JobFacts, readJobFacts, type Store } from '@cronce/store'
import { shareOfInterval } from './judge-durations.ts'
import { overdueSlots } from './overdue-slots.ts'

/** What the schedule and the ledger say of one job, in figures. */
export interface JobFigures {
  /** Slots that are owed and have not ended although the slot after them has come, those that nobody claimed included. */
  readonly unended: number
  /** The share of the time between slots that nine of ten of the last runs stay within; undefined: too few runs. */
  readonly durationShare: number | undefined
}

/**
 * The figures of a job. Undefined where the store has no such job, or this release cannot read its settings.
 *
 * @throws what ioredis throws where Redis is out of reach
 */
export async function readJobFigures(store: Store, name: string): Promise<JobFigures | undefined> {
  const facts = await readJobFacts(store, name)
  const settings = facts === undefined ? undefined : parseJobSettings(facts.settings).ok
  return facts === undefined || settings === undefined ? undefined : figuresOf(facts, settings)
}

/** Pure. */
export function figuresOf(facts: JobFacts, settings: JobSettings): JobFigures {
  const { schedule } = settings
  const owed = overdueSlots(facts, {
    ...settings,
    tolerance: { ...settings.tolerance, startMs: 0, finishMs: 0 },
  }).overdue
  const unended = owed
    .filter(({ at }) => (nextSlot(schedule, at) ?? Number.POSITIVE_INFINITY) <= facts.now)
    // One that stands for those after it stands for the newest as well, whose period is not over.
    .reduce((sum, { count }) => sum + Math.max(1, count - 1), 0)
  return { unended, durationShare: shareOfInterval(schedule, facts.durations) }
}
