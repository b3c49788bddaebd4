import {
  CronceError,
  type ErrorCode,
  isEnded,
  lastSlot,
  nextSlot,
  parseSlotId,
  parseSlotKey,
  type RunState,
  type SlotId,
  type SlotKey,
  slotIdOf,
  slotKeyOf,
} from '@cronce/core'
import { readSlot } from '@cronce/store'
import type { ServiceAccess } from './access.ts'
import { authorize, type Operator } from './operator.ts'
import type { Placed } from './place-by-hand.ts'
import { type AskedAction, recordAction } from './record-action.ts'
import { LONGEST_NOTE, refused, requireText } from './request-faults.ts'
import { rewalk } from './rewalk.ts'
import { type OwnedJob, ownerOf, requireOwnedJob } from './slot-owners.ts'
import { type SlotToTake, type TakenSlot, takeSlot } from './take-slot.ts'

export interface RunSlotRequest {
  readonly job: string
  /** `20261127T010000Z`, or the whole slot key. */
  readonly slot: string
  readonly operator: Operator
  /** Why; kept with the run. */
  readonly why?: string | undefined
  /** The release that asks. Default: none. */
  readonly release?: string | undefined
  /**
   * What becomes of a run that has ended: it is refused, or its plan is walked again for what has no receipt (R4). No effect that
   * has a receipt is repeated either way. Default `refuse`.
   */
  readonly ended?: 'refuse' | 'walk-again'
  /** What becomes of a slot that overlap, expiry or a pause dropped: it runs, or is refused as done. Default `take`. */
  readonly dropped?: 'take' | 'leave'
}

export interface RunSlotResult {
  readonly slot: SlotKey
  readonly status:
    | Placed['status']
    /** R4: its plan is walked again. */
    | 'walking'
  /** Why it is not on the queue; empty where it is. */
  readonly reason: string
  /** Dead letters of the run that are on their way again with it. */
  readonly redriven: number
  /** Abandoned ones that are left: they may have had their effect, and are repeated only by their names. */
  readonly abandonedLeft: number
}

/**
 * T11: runs one slot of the schedule that was missed or skipped, under its own identity, so that it cannot run twice.
 *
 * @throws CronceError CRONCE_SLOT_DONE, CRONCE_SLOT_BUSY, CRONCE_SLOT_EARLY, CRONCE_SLOT_FOREIGN, CRONCE_SLOT_MOVED,
 *   CRONCE_FOLD_MISSING, CRONCE_JOB_HELD, CRONCE_JOB_UNKNOWN, CRONCE_JOB_UNREADABLE, CRONCE_NOT_ALLOWED, CRONCE_INPUT_INVALID
 */
export async function runSlot(access: ServiceAccess, request: RunSlotRequest): Promise<RunSlotResult> {
  const { why: whyText, release = '', ended = 'refuse' } = request
  const action = ended === 'walk-again' ? 'run-slot-again' : 'run-slot'
  const by = authorize(request.operator, action)
  const why = whyText === undefined ? undefined : requireText('why', whyText, LONGEST_NOTE)
  const id = readNamedSlot(request)
  const job = await requireOwnedJob(access.store, request.job)
  const { owner, at } = await requireOwner(access, job, id)
  const slot = slotKeyOf({ job: request.job, id })
  const asked: AskedAction = {
    ...{ operator: request.operator, action, job: request.job, slots: [slot], note: why },
    refusals: REFUSALS,
  }
  return await recordAction<RunSlotResult>(access, asked, async () => {
    const taken = await takeSlot(access, {
      job,
      owner,
      id,
      at,
      cause: 'manual',
      by,
      release,
      why,
      dropped: request.dropped,
    })
    if (taken.placed !== undefined) {
      const answer = { slot, ...taken.placed, redriven: 0, abandonedLeft: 0 }
      return { answer, end: { result: taken.placed.status } }
    }
    if (taken.status === 'done' && ended === 'walk-again') {
      if (taken.state === undefined || !isEnded(taken.state)) throw noFold(slot, taken.state)
      const walked = await rewalk(access, { settings: job.settings, id, operator: request.operator, why })
      const counts = { redriven: walked.redriven }
      return { answer: { slot, status: 'walking', reason: '', ...walked }, end: { result: 'walking', counts } }
    }
    throw refusal(slot, taken, at + owner.spreadMs)
  })
}

const REFUSALS: readonly ErrorCode[] = [
  'CRONCE_SLOT_DONE',
  'CRONCE_SLOT_BUSY',
  'CRONCE_SLOT_EARLY',
  'CRONCE_SLOT_FOREIGN',
  'CRONCE_SLOT_MOVED',
  'CRONCE_FOLD_MISSING',
]

/** @throws CronceError CRONCE_INPUT_INVALID, CRONCE_SLOT_KEY_INVALID, CRONCE_SLOT_FOREIGN */
function readNamedSlot({ job, slot }: RunSlotRequest): SlotId {
  if (parseSlotId(slot) !== undefined) return slot as SlotId
  if (!slot.includes('@')) throw refused('slot', 'an instant such as 20261127T010000Z or a whole slot key', slot)
  const named = parseSlotKey(slot).job
  if (named === job) return slotIdOf(slot as SlotKey)
  throw new CronceError('CRONCE_SLOT_FOREIGN', { job, slot, reason: `it is one of "${named}"` })
}

type Owner = Pick<SlotToTake, 'owner' | 'at'>

/** The schedule that owned the slot when it was due; a run by hand has an identity of its own and is owned by none. */
async function requireOwner({ store }: ServiceAccess, job: OwnedJob, id: SlotId): Promise<Owner> {
  const { at, manual } = parseSlotId(id) ?? { at: 0 }
  const { name, schedule } = job.settings
  const foreign = (reason: string) => new CronceError('CRONCE_SLOT_FOREIGN', { job: name, slot: id, reason })
  if (manual !== undefined) {
    if ((await readSlot(store, name, id)) === undefined) throw foreign('the ledger has no such run by hand')
    return { owner: { schedule, spreadMs: 0 }, at }
  }
  const owner = ownerOf(job.owners, at)
  if (owner === undefined) throw foreign('the job was not registered then; `cronce backfill` reaches further back')
  if (lastSlot(owner.schedule, at) !== at) {
    const neighbours = [lastSlot(owner.schedule, at), nextSlot(owner.schedule, at)]
    const named = neighbours.flatMap((each) => (each === undefined ? [] : [new Date(each).toISOString()]))
    throw foreign(`its schedule then had none between ${named.join(' and ')}`)
  }
  return { owner, at }
}

function refusal(slot: SlotKey, { status, state, blocker }: TakenSlot, effectiveAt: number): CronceError {
  switch (status) {
    case 'done':
      return new CronceError('CRONCE_SLOT_DONE', { state: state ?? 'folded', next: nextStep(state) })
    case 'left':
      return new CronceError('CRONCE_SLOT_DONE', { state: state ?? 'skipped', next: blocker, reason: blocker })
    case 'early':
      return new CronceError('CRONCE_SLOT_EARLY', { slot, at: new Date(effectiveAt).toISOString() })
    case 'foreign':
      return new CronceError('CRONCE_SLOT_FOREIGN', {
        ...{ job: parseSlotKey(slot).job, slot },
        reason: 'the job was not registered then; `cronce backfill` reaches further back',
      })
    case 'moved':
      return new CronceError('CRONCE_SLOT_MOVED', { slot })
    case 'busy':
    case 'claimed':
    case 'later':
      return new CronceError('CRONCE_SLOT_BUSY', { slot, state: state ?? 'due' })
  }
}

/** What an operator may do about a slot that is done. */
function nextStep(state: RunState | undefined): string {
  const again = '--force walks the plan again for what has no receipt'
  if (state === undefined) return 'its record is a part of the sums of its day'
  if (!isEnded(state)) return 'it was started and cancelled, and what it had done by then is not known'
  return state === 'succeeded' ? again : `"cronce dead retry" repeats what failed, ${again}`
}

function noFold(slot: SlotKey, state: RunState | undefined): CronceError {
  const reason =
    state === undefined ? 'its record is a part of the sums of its day' : 'it was cancelled after its start'
  return new CronceError('CRONCE_FOLD_MISSING', { slot, reason })
}
