import { countBetween, DEFAULT_CLAIM_LEASE_MS, type Schedule, type SlotId } from '@cronce/core'
import { type GapSides, listGaps, type Revived, readTime, reviveSlot, type Store } from '@cronce/store'
import type { ServiceAccess } from './access.ts'
import { freshToken, hintClaim, type Placed, placeByHand } from './place-by-hand.ts'
import type { OwnedJob } from './slot-owners.ts'

/** A slot of the schedule that is to run, by hand or as a part of a backfill. */
export interface SlotToTake {
  readonly job: OwnedJob
  /** The schedule that owns it, and how much later than `at` it takes effect. */
  readonly owner: { readonly schedule: Schedule; readonly spreadMs: number }
  readonly id: SlotId
  readonly at: number
  readonly cause: 'manual' | 'backfill'
  readonly by: string
  readonly release: string
  readonly why: string | undefined
  /** What overlap, expiry or a pause dropped. Default `take`. */
  readonly dropped?: 'take' | 'leave' | undefined
}

/** What came of it; `placed` where the slot was taken. */
export interface TakenSlot extends Omit<Revived, 'now'> {
  readonly placed: Placed | undefined
}

/** How often the gap that holds a slot is counted anew: each time, somebody else has split it meanwhile. */
const COUNTING_TRIES = 5

/** T11: takes a slot that was missed or skipped and puts it on the queue, through the claim that any other slot has. */
export async function takeSlot(access: ServiceAccess, request: SlotToTake): Promise<TakenSlot> {
  const { store } = access
  const { job, owner, id, at, cause, by, release, why, dropped = 'take' } = request
  const { name, overlap } = job.settings
  const leaseMs = DEFAULT_CLAIM_LEASE_MS
  const token = freshToken(access)
  await hintClaim(store, name, { now: await readTime(store), leaseMs })
  const hand = { token, leaseMs, by, release, ...(why === undefined ? {} : { why }) }
  for (let tries = 1; ; tries++) {
    const sides = await countGapSides(store, name, { at, owner })
    const slot = { id, at, effectiveAt: at + owner.spreadMs }
    const { status, state, blocker } = await reviveSlot(store, name, { ...hand, slot, cause, sides, overlap, dropped })
    if (status === 'moved' && tries < COUNTING_TRIES) continue
    const placed =
      status === 'claimed' ? await placeByHand(access, { settings: job.settings, id, token, by }) : undefined
    return { status, state, blocker, placed }
  }
}

/** The slots of the gap that holds this one, before and after it; none where no gap holds it. */
async function countGapSides(
  store: Store,
  job: string,
  { at, owner }: Pick<SlotToTake, 'at' | 'owner'>,
): Promise<GapSides> {
  const [gap] = await listGaps(store, job, { afterAt: at - 1, limit: 1 })
  if (gap === undefined || gap.fromAt >= at) return { before: 0, after: 0 }
  return {
    before: countBetween(owner.schedule, gap.fromAt, at - 1),
    after: countBetween(owner.schedule, at, gap.toAt),
  }
}
