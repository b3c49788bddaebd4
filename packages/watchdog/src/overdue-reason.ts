import { type JobSettings, RUN_STATES } from '@cronce/core'
import type { JobFacts, UnendedSlot } from '@cronce/store'
import { instantText } from './instant-text.ts'
import { type Liveness, lastHeardAt } from './liveness.ts'
import type { OverdueSlot } from './overdue-slots.ts'
import { unservedBecause } from './service-of-job.ts'

/** What an overdue slot is explained by. */
export interface OverdueContext {
  readonly facts: JobFacts
  readonly settings: JobSettings
  readonly fleet: Liveness
}

/** Why a slot is overdue, in words. Pure. */
export function overdueReason(slot: OverdueSlot, context: OverdueContext): string {
  const { record } = slot
  if (record === undefined) return noTrigger(context) ?? 'no trigger has claimed it'
  switch (record.state) {
    case 'due':
      return noTrigger(context) ?? waitsFor(record, context)
    case 'claimed':
      return claimedReason(record, context)
    case 'enqueued':
      return enqueuedReason(record, context)
    default:
      return runningReason(record, context)
  }
}

/** Why no trigger fires this job at all; undefined: some live replica should. */
export function noTrigger({ facts, fleet }: Pick<OverdueContext, 'facts' | 'fleet'>): string | undefined {
  if (fleet.liveReplicas.length === 0) {
    const heardAt = lastHeardAt(fleet.replicas)
    return heardAt === undefined ? 'no trigger alive' : `no trigger alive since ${instantText(heardAt, fleet.now)}`
  }
  if (facts.dynamic || fleet.liveReplicas.some(({ images }) => images[facts.name] !== undefined)) return undefined
  return 'no live replica carries the job'
}

function waitsFor(record: UnendedSlot, { facts, fleet }: OverdueContext): string {
  const before = facts.unended.find(({ id, state }) => id !== record.id && RUN_STATES[state] === 'active')
  if (before === undefined)
    return record.waits ? 'it waits for the run before it' : 'it is due and no trigger has claimed it'
  const since =
    before.startedAt === undefined ? 'has not started' : `runs since ${instantText(before.startedAt, fleet.now)}`
  return `it waits for ${before.id}, which ${since}`
}

function claimedReason({ claimedBy, claimedAt }: UnendedSlot, { fleet, ...context }: OverdueContext): string {
  const at = claimedAt === undefined ? '' : ` at ${instantText(claimedAt, fleet.now)}`
  const claimed = `claimed by ${claimedBy ?? 'a replica'}${at} and not put on the queue`
  const dead = noTrigger({ ...context, fleet })
  return dead === undefined ? claimed : `${claimed}; ${dead}`
}

function enqueuedReason({ enqueuedAt }: UnendedSlot, { settings, fleet }: OverdueContext): string {
  const unserved = unservedBecause(settings, fleet)
  if (unserved !== undefined) return unserved.reason
  const since = enqueuedAt === undefined ? '' : ` since ${instantText(enqueuedAt, fleet.now)}`
  return `on queue "${settings.queue}"${since}; its workers have not come to it`
}

function runningReason(record: UnendedSlot, { settings, fleet }: OverdueContext): string {
  const { startedAt, startedBy, planned, done } = record
  const since = startedAt === undefined ? '' : ` since ${instantText(startedAt, fleet.now)}`
  const by = startedBy === undefined ? '' : `, started by ${startedBy}`
  const running = `runs${since}${by}: ${done} of ${planned} entities done`
  const unserved = unservedBecause(settings, fleet)
  return unserved === undefined ? running : `${running}; ${unserved.reason}`
}
