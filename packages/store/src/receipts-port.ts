import type { EffectRef, ReceiptTake, ReceiptWrite } from './receipts.ts'
import { releaseReceipt, renewReceipt, takeReceipt, writeReceipt } from './receipts.ts'
import type { Store } from './store.ts'

/** A lease of an effect: whose, and for how long. */
export interface EffectLease {
  readonly token: string
  readonly leaseMs: number
}

/**
 * R1: where receipts live. Two stores answer alike, by one contract suite. Each answer comes from one script or function, which
 * checks fence, fold and receipt together where they are kept.
 */
export interface Receipts {
  /** Checks the receipt and the fence and takes the lease. */
  take(ref: EffectRef, lease: EffectLease & { readonly fence: number }): Promise<ReceiptTake>
  /** The receipt of an effect that happened. Needs the lease's token only. */
  write(ref: EffectRef, token: string): Promise<ReceiptWrite>
  /** Renews the lease of an attempt that is still current. */
  renew(ref: EffectRef, lease: EffectLease): Promise<ReceiptWrite>
  /** Gives the lease of an effect back that surely did not happen. */
  release(ref: EffectRef, token: string): Promise<ReceiptWrite>
}

/** Receipts in Redis, beside the fence that they are checked with. */
export function redisReceipts(store: Store): Receipts {
  return {
    take: (ref, lease) => takeReceipt(store, ref, lease),
    write: (ref, token) => writeReceipt(store, ref, token),
    renew: (ref, lease) => renewReceipt(store, ref, lease),
    release: (ref, token) => releaseReceipt(store, ref, token),
  }
}
