import { type JobSettings, parseSlotId, type SlotId, slotKeyOf } from '@cronce/core'
import { provesNothingAdded } from '@cronce/queue'
import { askForLook, hintOpenWork, recordSlots, releaseSlot, type Store } from '@cronce/store'
import type { ServiceAccess } from './access.ts'

/** A slot that was claimed by hand, to be put on the queue. */
export interface ClaimedByHand {
  readonly settings: JobSettings
  readonly id: SlotId
  readonly token: string
  readonly by: string
}

/** How a slot that was claimed by hand stands. */
export interface Placed {
  readonly status:
    | 'enqueued'
    /** The queue took nothing; the slot is due, and a replica adds it when the queue takes it. */
    | 'due'
    /** It is not known whether the queue took it; a replica finds out when the claim's lease ends. */
    | 'claimed'
  /** Why it is not on the queue; empty where it is. */
  readonly reason: string
}

/** How long the claim's marker outlives the slot, as a trigger's: longer than any late add. */
const MARKER_MS = 24 * 3_600_000

/** How much of an error is kept in the ledger. */
const LONGEST_REASON = 200

/** A5: before the claim is written, so that a crash after it leaves a slot that workers and triggers find. */
export async function hintClaim(store: Store, job: string, times: { now: number; leaseMs: number }): Promise<void> {
  await hintOpenWork(store, [job], times.now)
  await askForLook(store, 'watch', [{ job, lookAt: times.now + times.leaseMs }])
}

/** T2, T3: puts a claimed slot on the queue and records it. */
export async function placeByHand(access: ServiceAccess, claimed: ClaimedByHand): Promise<Placed> {
  const { store } = access
  const { settings, id, token, by } = claimed
  const { name: job } = settings
  try {
    await add(access, settings, id)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    if (!provesNothingAdded(error)) return { status: 'claimed', reason }
    await releaseSlot(store, job, { id, token, reason: reason.slice(0, LONGEST_REASON) })
    return { status: 'due', reason }
  }
  const foreign = settings.enqueue !== undefined
  const { queue, version } = settings
  await recordSlots(store, {
    job,
    added: [{ id }],
    replica: by,
    markerMs: MARKER_MS,
    foreign,
    queue,
    version,
    slots: [],
  })
  return { status: 'enqueued', reason: '' }
}

/** A token that no other claim has. */
export function freshToken({ random }: ServiceAccess): string {
  return `${random().toString(36).slice(2)}${random().toString(36).slice(2)}`
}

async function add({ enqueuer }: ServiceAccess, settings: JobSettings, id: SlotId): Promise<void> {
  const { name, queue, version, enqueue } = settings
  if (enqueue === undefined) await enqueuer.add(queue, [{ kind: 'plan', job: name, id, number: 0, version }])
  else await enqueuer.addForeign(enqueue, [{ slot: slotKeyOf({ job: name, id }), at: parseSlotId(id)?.at ?? 0 }])
}
