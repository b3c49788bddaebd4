import { parseJobSettings } from '@cronce/core'
import {
  type AlarmEntry,
  type AlarmSettlement,
  type AlarmTake,
  askForJudgement,
  type JobToJudge,
  parseRaised,
  readJobFacts,
  type Store,
  settleAlarms,
  takeJobsToJudge,
} from '@cronce/store'
import { type Condition, changeAlarms } from './condition.ts'
import { placeOf, readPlaces } from './job-place.ts'
import { judgeFleet } from './judge-fleet.ts'
import { judgeJob } from './judge-job.ts'
import { type Liveness, livenessOf } from './liveness.ts'
import { finalAt } from './overdue-slots.ts'

/** How often the service as a whole is judged, by one process of the fleet, ms. */
export const FLEET_EVERY_MS = 60_000

/** Jobs that a judge took and did not come back with are judged by the next one after this, ms. */
export const PUT_OFF_MS = 30_000

/** Jobs that are judged together. */
const BATCH = 100

/** Batches of one look; the rest follows in the next. */
const MOST_BATCHES = 10

/** A job is judged at least this often, ms, whatever its schedule: a rollback changes a schedule and tells nobody. */
const LONGEST_PAUSE_MS = 6 * 3600 * 1000

/** A row that this release cannot read is looked at again after this, ms. */
const UNREADABLE_PAUSE_MS = 300_000

/** The longest pause between two looks at a condition that lasts, ms. */
const LONGEST_RAISED_PAUSE_MS = 60_000

/** What a look needs. */
export interface LookContext {
  readonly store: Store
  readonly who: string
  readonly intervalMs: number
  readonly delivers: boolean
}

export interface LookResult {
  readonly looked: number
  /** What this process raised and cleared for the fleet. */
  readonly entries: readonly AlarmEntry[]
  /** When there is something to look at again, Redis's time. */
  readonly nextAt: number | undefined
  /** Redis's now. */
  readonly now: number
  /** Whether alarms are to be delivered now. */
  readonly letters: 'due' | 'none'
}

/** One look at what may be the matter: takes what is due on the agenda, judges it, and settles what changed. */
export async function look(context: LookContext): Promise<LookResult> {
  const { store, who, delivers } = context
  const entries: AlarmEntry[] = []
  let looked = 0
  let nextAt = Number.POSITIVE_INFINITY
  for (let batch = 1; ; batch++) {
    const take = await takeJobsToJudge(store, {
      who,
      putOffMs: PUT_OFF_MS,
      most: BATCH,
      fleetEveryMs: FLEET_EVERY_MS,
      delivers,
    })
    const judged = await judge(context, take)
    entries.push(...(await settleAlarms(store, judged.settlements)))
    for (const { lookAt } of judged.settlements) if (lookAt !== 'gone') nextAt = Math.min(nextAt, lookAt)
    nextAt = Math.min(nextAt, take.nextAt ?? Number.POSITIVE_INFINITY)
    looked += take.jobs.length
    const isMore = take.jobs.length === BATCH || judged.suspects > 0
    if (isMore && batch < MOST_BATCHES) continue
    const letters = entries.length > 0 && delivers ? 'due' : take.letters
    return {
      looked,
      entries,
      letters,
      now: take.now,
      nextAt: isMore ? take.now : Number.isFinite(nextAt) ? nextAt : undefined,
    }
  }
}

async function judge(
  context: LookContext,
  take: AlarmTake,
): Promise<{ settlements: AlarmSettlement[]; suspects: number }> {
  const { facts } = take
  if (facts === undefined) return { settlements: [], suspects: 0 }
  const fleet = livenessOf(facts)
  const settlements = await Promise.all(take.jobs.map((job) => judgeTaken(context, job, fleet)))
  if (!take.fleet) return { settlements, suspects: 0 }
  const { conditions, suspects } = judgeFleet(readPlaces(facts.places), fleet)
  await askForJudgement(context.store, suspects, fleet.now)
  const isQuiet = conditions.length === 0 && facts.raised.length === 0
  const lookAt = fleet.now + (isQuiet ? FLEET_EVERY_MS : Math.min(FLEET_EVERY_MS, 2 * context.intervalMs))
  const whole = settlement(
    context,
    { job: '', score: '', known: facts.known, place: '' },
    { conditions, now: fleet.now, lookAt },
  )
  return { settlements: [...settlements, whole], suspects: suspects.length }
}

async function judgeTaken(context: LookContext, taken: JobToJudge, fleet: Liveness): Promise<AlarmSettlement> {
  const { job, score, raised: known } = taken
  const raised = parseRaised(known)
  const facts = await readJobFacts(context.store, job)
  if (facts === undefined)
    return settlement(context, { job, score, known, place: '' }, { conditions: [], now: fleet.now, lookAt: 'gone' })
  const { now } = facts
  const settings = parseJobSettings(facts.settings).ok
  // A replica that fires it can read it; what is raised stays as it is.
  if (settings === undefined) {
    return { job, score, known, raised: known, place: '', entries: [], lookAt: now + UNREADABLE_PAUSE_MS }
  }
  // T8: a tombstone that is final and of which nothing is under way; a return is a new registration, and comes onto the agenda again.
  const removedAt = finalAt(facts, settings)
  if (removedAt !== undefined && now > removedAt && facts.unended.length === 0) {
    return settlement(context, { job, score, known, place: '' }, { conditions: [], now, lookAt: 'gone' })
  }
  const { conditions, nextAt } = judgeJob({ facts, settings, fleet, raised })
  const lookAt = facts.switching ? now + context.intervalMs : nextLookAt(context, { raised, conditions, nextAt, now })
  return settlement(
    context,
    { job, score, known, place: JSON.stringify(placeOf(facts, settings)) },
    { conditions, now, lookAt },
  )
}

function settlement(
  { who }: LookContext,
  subject: Pick<AlarmSettlement, 'job' | 'score' | 'known' | 'place'>,
  found: { conditions: readonly Condition[]; now: number; lookAt: AlarmSettlement['lookAt'] },
): AlarmSettlement {
  const { raised, entries } = changeAlarms(parseRaised(subject.known), found.conditions, { by: who, now: found.now })
  return { ...subject, raised: raised.length === 0 ? '' : JSON.stringify(raised), entries, lookAt: found.lookAt }
}

/** When a job is looked at again: when it may be overdue next, and while something is the matter soon, the less soon the longer. */
function nextLookAt(
  { intervalMs }: LookContext,
  judged: {
    raised: readonly { raisedAt: number }[]
    conditions: readonly Condition[]
    nextAt: number | undefined
    now: number
  },
): number {
  const { raised, conditions, nextAt, now } = judged
  const byTime = Math.min((nextAt ?? Number.POSITIVE_INFINITY) + 1, now + LONGEST_PAUSE_MS)
  if (conditions.length === 0) return Math.max(byTime, now + intervalMs)
  const lastedMs = Math.max(0, ...raised.map(({ raisedAt }) => now - raisedAt))
  const raisedPauseMs = Math.min(LONGEST_RAISED_PAUSE_MS, Math.max(intervalMs, lastedMs / 10))
  return Math.max(now + intervalMs, Math.min(byTime, now + Math.round(raisedPauseMs)))
}
