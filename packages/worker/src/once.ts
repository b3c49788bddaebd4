import { type Clock, CronceError, type EventEmitter } from '@cronce/core'
import type { EffectRef, Receipts, ReceiptTake, ReceiptWrite, RunRef } from '@cronce/store'
import { checkEffect } from './idempotency-key.ts'
import type { Patience } from './patience.ts'
import { reachPostgres } from './postgres-reach.ts'
import type { RunSlot } from './run-slot.ts'
import type { ChunkReceipts } from './transaction.ts'

/** What effects of one chunk's entities need. */
export interface EffectScope {
  readonly receipts: Receipts
  /** Where receipts are in Postgres: this hold of the chunk as it stands there. */
  readonly chunkReceipts: ChunkReceipts | undefined
  readonly run: RunRef
  readonly slot: RunSlot
  readonly chunk: number
  readonly fence: number
  /** The fence as the store of receipts orders it. */
  readonly receiptFence: number
  readonly leaseMs: number
  readonly clock: Clock
  readonly events: EventEmitter
  readonly token: () => string
  readonly patience: Patience
  /** The store said that another worker holds the chunk. */
  readonly onFenced: () => void
}

/** The longest wait before another look at an effect under way elsewhere: its holder may end long before its lease does. */
const LONGEST_LOOK_MS = 500

/** The attempt that asks: may it still start effects, and how does it wait? */
export interface EffectWaiter {
  readonly isCurrent: boolean
  /** @throws CronceError why it may not */
  assertCurrent(): void
  /** Waits without using up its time, nor the time that it has waited already; ends early when it is over. */
  pause(delayMs: number, waitedMs?: number): Promise<void>
}

/** An attempt at one entity. */
export interface EffectHolder extends EffectWaiter {
  readonly member: { readonly key: string }
}

interface Effect {
  readonly effect: string
  readonly run: () => unknown
}

/** R1: runs an effect unless it has a receipt. */
export async function runOnce(
  scope: EffectScope,
  attempt: EffectHolder,
  { effect, run }: Effect,
): Promise<'done' | 'skipped'> {
  checkEffect(effect)
  const { receipts, events, leaseMs, patience } = scope
  const entity = attempt.member.key
  const ref: EffectRef = { ...scope.run, chunk: scope.chunk, entity, effect }
  const facts = { slot: scope.slot.key, entity, effect }
  const token = scope.token()
  if ((await takeLease(scope, attempt, { ref, token })) === 'done') {
    events.emit('receipt.hit', facts)
    return 'skipped'
  }
  const stopRenewing = renewWhileCurrent(scope, attempt, () => receipts.renew(ref, { token, leaseMs }))
  let written: ReceiptWrite
  try {
    try {
      attempt.assertCurrent()
      await run()
    } catch (error) {
      // Not given back, the lease would only end by itself.
      await receipts.release(ref, token).catch(() => undefined)
      throw error
    }
    // Of an attempt that is over, too: a true effect is never disowned.
    written = await patience(() => receipts.write(ref, token))
  } finally {
    stopRenewing()
  }
  if (written !== 'written') events.emit('receipt.lost', facts)
  return 'done'
}

async function takeLease(
  scope: EffectScope,
  attempt: EffectHolder,
  { ref, token }: { ref: EffectRef; token: string },
): Promise<'taken' | 'done'> {
  const { receipts, fence, receiptFence, leaseMs, slot } = scope
  for (;;) {
    attempt.assertCurrent()
    const take: ReceiptTake = await reachPostgres(() => receipts.take(ref, { fence: receiptFence, token, leaseMs }))
    switch (take.status) {
      case 'taken':
      case 'done':
        return take.status
      case 'fenced':
        scope.onFenced()
        throw new CronceError('CRONCE_FENCED_OFF', { slot: slot.key, fence })
      case 'leased':
        await attempt.pause(Math.min(LONGEST_LOOK_MS, Math.max(1, take.untilAt - take.now)))
    }
  }
}

/** The lease lives as long as the attempt is current, and ends by itself afterwards. */
function renewWhileCurrent(scope: EffectScope, attempt: EffectHolder, renew: () => Promise<unknown>): () => void {
  const { clock, leaseMs } = scope
  let isStopped = false
  let cancel = (): void => undefined
  const arm = () => {
    cancel = clock.after(leaseMs / 2, () => {
      if (isStopped || !attempt.isCurrent) return
      // A renewal that fails leaves the lease as it is; the next one may do better.
      void renew().then(rearm, rearm)
    })
  }
  const rearm = () => {
    if (!isStopped) arm()
  }
  arm()
  return () => {
    isStopped = true
    cancel()
  }
}
