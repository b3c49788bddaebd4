import { DEFAULT_CLAIM_LEASE_MS, formatSlotId, type SlotKey, slotKeyOf } from '@cronce/core'
import { claimManual, readTime } from '@cronce/store'
import type { ServiceAccess } from './access.ts'
import { requireSettings } from './known-job.ts'
import { authorize, type Operator } from './operator.ts'
import { freshToken, hintClaim, type Placed, placeByHand } from './place-by-hand.ts'
import { recordAction } from './record-action.ts'
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
    | Placed['status']
    /** This request id has its run already. */
    | 'repeated'
  /** Why it is not on the queue; empty where it is. */
  readonly reason: string
}

/**
 * T11: runs a job now. The run has an identity of its own: no slot of the schedule is touched by it.
 *
 * @throws CronceError CRONCE_JOB_UNKNOWN, CRONCE_JOB_UNREADABLE, CRONCE_NOT_ALLOWED, CRONCE_INPUT_INVALID
 */
export async function runNow(access: ServiceAccess, request: RunNowRequest): Promise<RunNowResult> {
  const { store } = access
  const { job, why, requestId, release = '' } = request
  const by = authorize(request.operator, 'run-now')
  const notes = {
    ...(why === undefined ? {} : { why: requireText('why', why, LONGEST_NOTE) }),
    ...(requestId === undefined ? {} : { requestId: requireText('request id', requestId, LONGEST_NOTE) }),
  }
  const settings = await requireSettings(store, job)
  const asked = { operator: request.operator, action: 'run-now', job, note: notes.why } as const
  return await recordAction<RunNowResult>(access, asked, async () => {
    const now = await readTime(store)
    const at = Math.floor(now / 1_000) * 1_000
    const leaseMs = DEFAULT_CLAIM_LEASE_MS
    await hintClaim(store, job, { now, leaseMs })
    const token = freshToken(access)
    const hand = { token, leaseMs, by, release, ...notes }
    const { status, id } = await claimManual(store, job, { ...hand, instant: formatSlotId(at), at })
    const slot = slotKeyOf({ job, id })
    if (status === 'repeated') return { answer: { slot, status, reason: '' }, end: 'unchanged' }
    const placed = await placeByHand(access, { settings, id, token, by })
    return { answer: { slot, ...placed }, end: { result: placed.status, slots: [slot] } }
  })
}
