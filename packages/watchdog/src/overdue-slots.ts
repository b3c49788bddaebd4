import {
  countBetween,
  formatSlotKey,
  type JobSettings,
  nextSlot,
  parseSlotId,
  type SlotKey,
  slotKeyOf,
  slotsBetween,
  spreadOffsetMs,
} from '@cronce/core'
import type { JobFacts, UnendedSlot } from '@cronce/store'

/** A slot that has not started, or not ended, by its tolerance. */
export interface OverdueSlot {
  readonly slot: SlotKey
  readonly at: number
  readonly kind: 'start' | 'finish'
  /** Since when it is overdue: the end of its tolerance. */
  readonly deadlineAt: number
  /** The tolerance that it went beyond. */
  readonly toleranceMs: number
  /** How many slots it stands for: 1, but for the last one that is named of those that nobody has claimed. */
  readonly count: number
  /** Its record; undefined where nobody has claimed it. */
  readonly record: UnendedSlot | undefined
}

export interface OverdueSlots {
  /** By nominal instant, oldest first; of those that nobody has claimed the oldest few. */
  readonly overdue: readonly OverdueSlot[]
  /** The next instant at which another slot may be overdue. */
  readonly nextDeadlineAt: number | undefined
}

/** Slots that nobody claimed: so many are named. An outage of weeks costs no more. */
const MOST_UNCLAIMED = 50

/** Slots that one look steps over because they are recorded. */
const MOST_STEPS = 2_000

/**
 * Which slots of a job are overdue (tolerances count from effective instants), those included that no trigger has ever
 * claimed: they follow from the schedule and the watermark alone. Pure.
 */
export function overdueSlots(facts: JobFacts, settings: JobSettings): OverdueSlots {
  const { now } = facts
  const spreadMs = spreadOffsetMs(facts.name, settings.schedule)
  const starts = stateOfStarts(facts) === 'fire'
  const overdue: OverdueSlot[] = []
  const deadlines: number[] = []
  for (const record of facts.unended) {
    const kind = record.state === 'running' ? 'finish' : 'start'
    if (kind === 'start' && !starts) continue
    const toleranceMs = kind === 'start' ? settings.tolerance.startMs : settings.tolerance.finishMs
    const deadlineAt = deadlineOf(record, settings)
    if (deadlineAt === undefined) continue
    if (deadlineAt >= now) deadlines.push(deadlineAt)
    else
      overdue.push({
        slot: slotKeyOf({ job: facts.name, id: record.id }),
        at: record.at,
        kind,
        deadlineAt,
        toleranceMs,
        count: 1,
        record,
      })
  }
  if (starts) {
    const delayMs = spreadMs + settings.tolerance.startMs
    const toleranceMs = settings.tolerance.startMs
    for (const { at, count } of unclaimed(facts, settings, now - delayMs - 1)) {
      overdue.push({
        slot: formatSlotKey({ job: facts.name, at }),
        at,
        kind: 'start',
        deadlineAt: at + delayMs,
        toleranceMs,
        count,
        record: undefined,
      })
    }
    const next = nextSlot(settings.schedule, Math.max(owedFrom(facts), now - delayMs - 1))
    if (next !== undefined) deadlines.push(next + delayMs)
  }
  return {
    overdue: overdue.toSorted((a, b) => a.at - b.at),
    nextDeadlineAt: deadlines.length === 0 ? undefined : Math.min(...deadlines),
  }
}

/** Whether slots of a job are owed now: not while it is paused (T10), nor once it is gone (T8). */
export function stateOfStarts({
  pause,
  goneAt,
  now,
}: Pick<JobFacts, 'pause' | 'goneAt' | 'now'>): 'fire' | 'paused' | 'gone' {
  if (goneAt !== undefined) return 'gone'
  if (pause === undefined) return 'fire'
  return pause.state === 'resuming' || pause.untilAt === undefined || pause.untilAt > now ? 'paused' : 'fire'
}

/** T8: when a job that is gone counts as removed; undefined: it is not gone. */
export function finalAt(
  { goneAt }: Pick<JobFacts, 'goneAt'>,
  { catchUp }: Pick<JobSettings, 'catchUp'>,
): number | undefined {
  return goneAt === undefined ? undefined : goneAt + catchUp.withinMs
}

/** The instant after which slots are owed. A pause that ended by itself is a gap that no trigger has written yet. */
function owedFrom({ watermarkAt, sinceAt, pause }: JobFacts): number {
  return Math.max(watermarkAt, sinceAt, pause?.untilAt ?? 0)
}

/** Slots up to an instant that the ledger says nothing of, oldest first; the last that is named stands for those after it. */
function unclaimed(facts: JobFacts, settings: JobSettings, untilAt: number): { at: number; count: number }[] {
  const scheduled = facts.unended.filter(({ id }) => parseSlotId(id)?.manual === undefined)
  const known = new Set([...facts.knownAt, ...scheduled.map(({ at }) => at)])
  // Where not every record was read, what lies beyond the last of them is left to a later look.
  const reachAt = facts.knownInFull ? untilAt : Math.min(untilAt, facts.knownAt.at(-1) ?? untilAt)
  const found: { at: number; count: number }[] = []
  let steps = 0
  for (const at of slotsBetween(settings.schedule, owedFrom(facts), reachAt)) {
    steps += 1
    const last = found.at(-1)
    if (found.length === MOST_UNCLAIMED || steps > MOST_STEPS) {
      if (last !== undefined) last.count = countBetween(settings.schedule, last.at - 1, reachAt)
      break
    }
    if (known.has(at) || facts.gaps.some((gap) => at > gap.fromAt && at <= gap.toAt)) continue
    found.push({ at, count: 1 })
  }
  return found
}

/**
 * When a slot that has a record is overdue; undefined: never. A redrive comes long after its slot; a named slot
 * that was run by hand or by a backfill was asked for when it was claimed; one that an outage made late has, once it started, the time of a punctual one.
 */
function deadlineOf(record: UnendedSlot, { tolerance }: JobSettings): number | undefined {
  const { cause, effectiveAt, claimedAt, startedAt, version } = record
  if (version > 0) return undefined
  const asked = (cause === 'manual' || cause === 'backfill') && parseSlotId(record.id)?.manual === undefined
  if (asked && claimedAt === undefined) return undefined
  const fromAt = asked ? Math.max(effectiveAt, claimedAt ?? 0) : effectiveAt
  if (record.state !== 'running') return fromAt + tolerance.startMs
  const deadlineAt = fromAt + tolerance.finishMs
  if (cause === 'on-time' || startedAt === undefined) return deadlineAt
  return Math.max(deadlineAt, startedAt + tolerance.finishMs - tolerance.startMs)
}
