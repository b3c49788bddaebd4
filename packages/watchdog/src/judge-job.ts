import type { JobSettings } from '@cronce/core'
import type { JobFacts, RaisedAlarm } from '@cronce/store'
import type { Condition } from './condition.ts'
import { instantText } from './instant-text.ts'
import { FAR_FROM_INTERVAL, NEAR_INTERVAL, shareOfInterval } from './judge-durations.ts'
import { type Liveness, lastHeardAt, SILENCE_MS } from './liveness.ts'
import { overdueReason } from './overdue-reason.ts'
import { finalAt, type OverdueSlot, overdueSlots, stateOfStarts } from './overdue-slots.ts'
import { unservedBecause } from './service-of-job.ts'

/** What one job is judged by. */
export interface JobCase {
  readonly facts: JobFacts
  readonly settings: JobSettings
  readonly fleet: Liveness
  readonly raised: readonly RaisedAlarm[]
}

export interface JobJudgement {
  readonly conditions: readonly Condition[]
  /** The next instant at which the judgement may be another by time alone. */
  readonly nextAt: number | undefined
}

/** How long nobody may serve a job before that is worth an alarm, ms: longer than a restart of its workers. */
export const UNSERVED_AFTER_MS = 60_000

/** What is the matter with one job. Pure. Keys name job and kind, so that a backlog is one alarm and not one per slot. */
export function judgeJob(subject: JobCase): JobJudgement {
  const { facts, settings } = subject
  const { overdue, nextDeadlineAt } = overdueSlots(facts, settings)
  const found = [
    overdueCondition(subject, overdue, 'start'),
    overdueCondition(subject, overdue, 'finish'),
    judgeDurations(subject),
    judgeRegistration(subject),
    judgeService(subject),
  ]
  return { conditions: found.filter((condition) => condition !== undefined), nextAt: nextDeadlineAt }
}

function overdueCondition(
  subject: JobCase,
  overdue: readonly OverdueSlot[],
  kind: OverdueSlot['kind'],
): Condition | undefined {
  const { name } = subject.facts
  const slots = overdue.filter((slot) => slot.kind === kind)
  const [oldest] = slots
  if (oldest === undefined) return undefined
  const others = slots.reduce((sum, { count }) => sum + count, 0) - 1
  const more = others > 0 ? `; ${others} more of its slots are overdue` : ''
  const reason = overdueReason(oldest, subject) + more
  return {
    key: keyOf(`overdue-${kind}`, name),
    kind: `overdue-${kind}`,
    job: name,
    slot: oldest.slot,
    sinceAt: oldest.deadlineAt,
    reason,
  }
}

function judgeDurations({ facts, settings, raised }: JobCase): Condition | undefined {
  // Where runs may overlap, one that outlasts its interval is what the author allowed.
  if (settings.overlap === 'allow' || stateOfStarts(facts) !== 'fire') return undefined
  const share = shareOfInterval(settings.schedule, facts.durations)
  const key = keyOf('duration-near-interval', facts.name)
  const bound = raised.some((alarm) => alarm.key === key) ? FAR_FROM_INTERVAL : NEAR_INTERVAL
  if (share === undefined || share < bound) return undefined
  const reason = `runs take up to ${Math.round(share * 100)} % of the time between its slots`
  return { key, kind: 'duration-near-interval', job: facts.name, sinceAt: facts.now, reason }
}

/**
 * T8: a static job that no live replica carries any more, until it returns, takes another name, or its tombstone is final. Where no
 * replica lives at all, that is said of the service and not of every job.
 */
function judgeRegistration({ facts, settings, fleet }: JobCase): Condition | undefined {
  const { now, name, dynamic, renamedTo, goneAt } = facts
  if (dynamic || renamedTo !== undefined || fleet.liveReplicas.length === 0) return undefined
  if (fleet.liveReplicas.some(({ images }) => images[name] !== undefined)) return undefined
  const removedAt = finalAt(facts, settings)
  if (removedAt !== undefined && now > removedAt) return undefined
  const sinceAt =
    goneAt ?? lastHeardAt(fleet.replicas.filter(({ images }) => images[name] !== undefined)) ?? facts.registeredAt
  // A carrier that restarts in the middle of a rollout is back within its lease.
  if (now - sinceAt < SILENCE_MS) return undefined
  const final =
    removedAt === undefined
      ? ''
      : `; its slots do not fire, and from ${instantText(removedAt, now)} on it counts as removed`
  const reason = `no live replica carries ${name} since ${instantText(sinceAt, now)}${final}`
  return { key: keyOf('not-registered', name), kind: 'not-registered', job: name, sinceAt, reason }
}

/** A queue that nobody serves is said of the queue and not of every job on it. */
function judgeService({ facts, settings, fleet }: JobCase): Condition | undefined {
  if (settings.enqueue !== undefined || stateOfStarts(facts) !== 'fire') return undefined
  const unserved = unservedBecause(settings, fleet)
  if (unserved === undefined || unserved.what === 'queue') return undefined
  const sinceAt = unserved.sinceAt ?? facts.registeredAt
  if (facts.now - sinceAt < UNSERVED_AFTER_MS) return undefined
  return {
    key: keyOf('queue-unserved', facts.name),
    kind: 'queue-unserved',
    job: facts.name,
    sinceAt,
    reason: unserved.reason,
  }
}

/** A kind holds no blank, so a job cannot be taken for a queue or a replica. */
function keyOf(kind: Condition['kind'], job: string): string {
  return `${kind} job ${job}`
}
