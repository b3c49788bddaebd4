import {
  CronceError,
  formatSlotId,
  isCronceError,
  lastSlot,
  parseSlotId,
  type SlotId,
  type SlotKey,
  slotIdOf,
  slotKeyOf,
} from '@cronce/core'
import { readTime } from '@cronce/store'
import type { ServiceAccess } from './access.ts'
import type { Operator } from './operator.ts'
import { runSlot } from './run-slot.ts'
import { requireOwnedJob } from './slot-owners.ts'

export interface TriggerSlotRequest {
  readonly job: string
  /** `20261127T010000Z`, or the whole slot key. */
  readonly slot: string
  readonly operator: Operator
  readonly why?: string | undefined
  readonly release?: string | undefined
}

export interface TriggerSlotResult {
  readonly slot: SlotKey
  /**
   * `ran`: it had ended before. `accepted`: it is on its way, by this request or by whoever was first. `left`: overlap, expiry or a
   * pause dropped it, and it stays so.
   */
  readonly outcome: 'accepted' | 'ran' | 'left'
  /** As the ledger has it: due, claimed, enqueued, running, or how it ended. */
  readonly state: string
  /** Why it was dropped; only where it is left. */
  readonly reason?: string
}

/**
 * The slot that came due last: what somebody means who says "now" to a schedule, however often they say it.
 *
 * @throws CronceError CRONCE_JOB_UNKNOWN, CRONCE_JOB_UNREADABLE, CRONCE_JOB_HELD, CRONCE_SLOT_FOREIGN
 */
export async function latestDueSlot({ store }: Pick<ServiceAccess, 'store'>, job: string): Promise<SlotKey> {
  const [{ owners }, now] = await Promise.all([requireOwnedJob(store, job), readTime(store)])
  // An edit may have left the newest schedule without a slot yet: the one before it had the last.
  for (const { schedule, spreadMs, afterAt, untilAt } of owners.toReversed()) {
    const at = lastSlot(schedule, Math.min(now - spreadMs, untilAt))
    if (at !== undefined && at > afterAt) return slotKeyOf({ job, id: formatSlotId(at) })
  }
  throw new CronceError('CRONCE_SLOT_FOREIGN', {
    job,
    slot: 'none',
    reason: 'none has come due since it was registered',
  })
}

/**
 * T11: runs one slot of the schedule for somebody who cannot know whether it runs already: a second call is answered with how it
 * stands. Nothing runs twice; what has ended is left alone, and so is what overlap, expiry or a pause dropped.
 *
 * @throws CronceError CRONCE_SLOT_EARLY, CRONCE_SLOT_FOREIGN, CRONCE_SLOT_MOVED, CRONCE_JOB_HELD, CRONCE_JOB_UNKNOWN,
 *   CRONCE_JOB_UNREADABLE, CRONCE_NOT_ALLOWED, CRONCE_INPUT_INVALID
 */
export async function triggerSlot(access: ServiceAccess, request: TriggerSlotRequest): Promise<TriggerSlotResult> {
  const { job, slot: named } = request
  try {
    const { slot, status } = await runSlot(access, { ...request, dropped: 'leave' })
    return { slot, outcome: 'accepted', state: status }
  } catch (error) {
    if (!isCronceError(error)) throw error
    const { state: stateNow, reason } = error.fields
    const state = String(stateNow)
    if (error.code === 'CRONCE_SLOT_DONE' && reason !== undefined) {
      return { slot: keyOf(job, named), outcome: 'left', state, reason: String(reason) }
    }
    if (error.code === 'CRONCE_SLOT_DONE') return { slot: keyOf(job, named), outcome: 'ran', state }
    if (error.code === 'CRONCE_SLOT_BUSY') return { slot: keyOf(job, named), outcome: 'accepted', state }
    throw error
  }
}

function keyOf(job: string, named: string): SlotKey {
  return slotKeyOf({ job, id: parseSlotId(named) === undefined ? slotIdOf(named as SlotKey) : (named as SlotId) })
}
