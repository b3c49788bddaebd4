import type { RunRef } from './plan.ts'
import { readReply } from './reply.ts'
import type { Store } from './store.ts'

/** One effect of one entity, under the chunk that holds it. */
export interface EffectRef extends RunRef {
  readonly chunk: number
  readonly entity: string
  readonly effect: string
}

export interface ReceiptTake {
  readonly status:
    | 'taken'
    /** There is a receipt: skip. */
    | 'done'
    /** Another attempt holds the lease until `untilAt`: wait. */
    | 'leased'
    /** This holder lost its chunk: no further effect. */
    | 'fenced'
  readonly now: number
  readonly untilAt: number
}

/** R1: checks the receipt and the fence and takes the lease, in one script. */
export async function takeReceipt(
  store: Store,
  ref: EffectRef,
  lease: { fence: number; token: string; leaseMs: number },
): Promise<ReceiptTake> {
  const args = [ref.id, ref.chunk, lease.fence, field(ref), lease.token, lease.leaseMs]
  const reply = readReply(await store.job(ref.job, 'receipt-take', args))
  return { status: reply.text() as ReceiptTake['status'], now: reply.number(), untilAt: reply.number() }
}

/** `already`: another wrote it, or the chunk has folded; `lost`: the lease is another's by now. */
export type ReceiptWrite = 'written' | 'already' | 'lost'

/** R1: writes the receipt of an effect that happened. Needs the lease's token only. */
export function writeReceipt(store: Store, ref: EffectRef, token: string): Promise<ReceiptWrite> {
  return change(store, ref, [token, 'done', ''])
}

/** Renews the lease of an attempt that is still current. */
export function renewReceipt(
  store: Store,
  ref: EffectRef,
  lease: { token: string; leaseMs: number },
): Promise<ReceiptWrite> {
  return change(store, ref, [lease.token, 'renew', lease.leaseMs])
}

/** Gives the lease of an effect back that surely did not happen. */
export function releaseReceipt(store: Store, ref: EffectRef, token: string): Promise<ReceiptWrite> {
  return change(store, ref, [token, 'release', ''])
}

async function change(
  store: Store,
  ref: EffectRef,
  [token, what, value]: [string, string, string | number],
): Promise<ReceiptWrite> {
  const [answer] = await store.job(ref.job, 'receipt-write', [ref.id, ref.chunk, field(ref), token, what, value])
  return answer as ReceiptWrite
}

function field(ref: EffectRef): string {
  return `${ref.entity}\n${ref.effect}`
}
