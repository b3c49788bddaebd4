import {
  DEFAULT_CLAIM_LEASE_MS,
  formatSlotId,
  formatSlotKey,
  type JobSettings,
  parseSlotId,
  type SlotId,
  type SlotKey,
} from '@cronce/core'
import { provesNothingAdded } from '@cronce/queue'
import { claimManual, hintOpenWork, readTime, recordSlots, releaseSlot } from '@cronce/store'
import type { ServiceAccess } from './access.ts'
import { requireSettings } from './known-job.ts'
import { type Operator, operatorName } from './operator.ts'
import { LONGEST_NOTE, requireText } from './request-faults.ts'

export interface RunNowRequest {
  readonly job: string
  readonly operator: Operator
  /** Why; kept with the run. */
  readonly why?: string | undefined
  /** The same id, within 30 days, is the same run: a client that tries again starts nothing twice. */
  readonly requestId?: string | undefined
  /** The release that asks. Default: none. */
  readonly release?: string | undefined
}

export interface RunNowResult {
  readonly slot: SlotKey
  readonly status:
    | 'enqueued'
    /** This request id has its run already. */
    | 'repeated'
    /** The queue took nothing; the slot is due, and a replica adds it when the queue takes it. */
    | 'due'
    /** It is not known whether the queue took it; a replica finds out when the claim's lease ends. */
    | 'claimed'
  /** Why it is not on the queue; empty where it is. */
  readonly reason: string
}

/** How long the claim's marker outlives the slot, as a trigger's: longer than any late add. */
const MARKER_MS = 24 * 3_600_000

/**
 * T11: runs a job now. The run has an identity of its own: no slot of the schedule is touched by it.
 *
 * @throws CronceError CRONCE_JOB_UNKNOWN, CRONCE_JOB_UNREADABLE, CRONCE_INPUT_INVALID
 */
export async function runNow(access: ServiceAccess, request: RunNowRequest): Promise<RunNowResult> {
  const { store, random } = access
  const { job, why, requestId, release = '' } = request
  const by = operatorName(request.operator)
  const notes = {
    ...(why === undefined ? {} : { why: requireText('why', why, LONGEST_NOTE) }),
    ...(requestId === undefined ? {} : { requestId: requireText('request id', requestId, LONGEST_NOTE) }),
  }
  const settings = await requireSettings(store, job)
  const now = await readTime(store)
  const at = Math.floor(now / 1_000) * 1_000
  // A5: the hint first, so that a crash after the claim leaves work that a sweep finds.
  await hintOpenWork(store, [job], now)
  const token = `${random().toString(36).slice(2)}${random().toString(36).slice(2)}`
  const hand = { token, leaseMs: DEFAULT_CLAIM_LEASE_MS, by, release, ...notes }
  const { status, id } = await claimManual(store, job, { ...hand, instant: formatSlotId(at), at })
  const slot = slotKeyOf(job, id)
  if (status === 'repeated') return { slot, status, reason: '' }
  try {
    await place(access, settings, id)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    if (!provesNothingAdded(error)) return { slot, status: 'claimed', reason }
    await releaseSlot(store, job, { id, token, reason: reason.slice(0, 200) })
    return { slot, status: 'due', reason }
  }
  const foreign = settings.enqueue !== undefined
  await recordSlots(store, { job, ids: [id], replica: by, markerMs: MARKER_MS, foreign, slots: [] })
  return { slot, status: 'enqueued', reason: '' }
}

async function place({ enqueuer }: ServiceAccess, settings: JobSettings, id: SlotId): Promise<void> {
  const { name, queue, version, enqueue } = settings
  if (enqueue === undefined) await enqueuer.add(queue, [{ kind: 'plan', job: name, id, number: 0, version }])
  else await enqueuer.addForeign(enqueue, [{ slot: slotKeyOf(name, id), at: parseSlotId(id)?.at ?? 0 }])
}

function slotKeyOf(job: string, id: SlotId): SlotKey {
  return formatSlotKey({ job, ...(parseSlotId(id) ?? { at: 0 }) })
}
