import { CronceError } from '@cronce/core'
import type { EffectRef } from '@cronce/store'
import type { ChunkHold, PostgresReceipts, PostgresSession } from '@cronce/store/postgres'
import { checkEffect } from './idempotency-key.ts'
import type { EffectHolder, EffectScope, EffectWaiter } from './once.ts'
import { reachPostgres } from './postgres-reach.ts'

/** The longest wait before another look at an effect that others are at, ms. */
const LONGEST_LOOK_MS = 500

/** How long before another look at a chunk that effects of its holder before are at, ms. */
const BUSY_MS = 200

/** The longest that Postgres can be told to wait, ms. */
const LONGEST_IDLE_MS = 2 ** 31 - 1

/**
 * What a transaction's callback gets, for code that gets more than `query`: name it once and every `ctx.transaction` has it.
 *
 * @example
 * declare module '@cronce/worker' {
 *   interface TransactionTypes { tx: import('pg').PoolClient }
 * }
 */
// biome-ignore lint/suspicious/noEmptyInterface: filled in by whoever uses it
export interface TransactionTypes {}

/** The open transaction: what the adapter hands out. A plain `query(text, values)` unless {@link TransactionTypes} says more. */
export type Transaction = TransactionTypes extends { tx: infer Tx } ? Tx : PostgresSession

/** What an effect in a transaction may ask for. */
export interface TransactionRequest {
  /** What the effect is asked to do, such as a hash of its amounts. The same effect with another one is refused. */
  readonly fingerprint?: string
  /** `result`: what it returns is kept, as JSON, and returned to whoever skips it later. Such receipts do not fold. */
  readonly keep?: 'result'
}

/** `skipped`: it has a receipt; `result` is what was kept then, and undefined where nothing was. */
export interface TransactionOutcome<T> {
  readonly status: 'done' | 'skipped'
  readonly result: T | undefined
}

/** Fences of a run are below this many. */
const MOST_FENCES = 2 ** 20

/**
 * The fence of a chunk as Postgres orders it. Postgres remembers where Redis may have lost everything: a run that starts again after
 * that is newer than all that was there, whatever number its fences begin with. Below 2^53 until the year 2242.
 */
export function orderFence({ startedAt, fence }: { readonly startedAt: number; readonly fence: number }): number {
  return Math.floor(startedAt / 1_000) * MOST_FENCES + fence
}

/** Of one hold of a chunk: whether its fence is in Postgres yet. */
export class ChunkReceipts {
  readonly store: PostgresReceipts
  readonly idleMs: number
  readonly #hold: ChunkHold
  #opening: Promise<'held' | 'fenced' | 'busy'> | undefined
  #isTouched = false

  constructor(store: PostgresReceipts, { idleMs, ...hold }: ChunkHold & { readonly idleMs: number }) {
    this.store = store
    this.idleMs = Math.min(idleMs, LONGEST_IDLE_MS)
    this.#hold = hold
  }

  /** The first effect of a hold writes its fence, so that the others need only look at it and do not wait for each other. */
  async open(): Promise<'held' | 'fenced' | 'busy'> {
    this.#isTouched = true
    this.#opening ??= this.store.openChunk(this.#hold)
    try {
      const answer = await this.#opening
      if (answer === 'busy') this.#opening = undefined
      return answer
    } catch (error) {
      this.#opening = undefined
      throw error
    }
  }

  /** R3: what there is to close when the chunk was settled: nothing where this hold never came here. */
  get closing(): ChunkHold | undefined {
    return this.#isTouched ? this.#hold : undefined
  }
}

interface Asked<T> extends TransactionRequest {
  readonly effect: string
  readonly run: (tx: Transaction) => T | Promise<T>
}

/** R2: runs an effect in one transaction with its receipt, unless it has one. */
export async function runTransaction<T>(
  scope: EffectScope,
  attempt: EffectHolder,
  { effect, run, ...request }: Asked<T>,
): Promise<TransactionOutcome<T>> {
  checkEffect(effect)
  const entity = attempt.member.key
  const ref: EffectRef = { ...scope.run, chunk: scope.chunk, entity, effect }
  const work = async (tx: unknown): Promise<T> => {
    // Of an attempt that is over by now, nothing is begun, and nothing committed.
    attempt.assertCurrent()
    const result = await run(tx as Transaction)
    attempt.assertCurrent()
    return result
  }
  const answer = await untilTheirs(scope, attempt, {
    effect,
    ask: ({ store, idleMs }) =>
      store.transaction<T>(ref, { ...request, fence: scope.receiptFence, idleMs, token: scope.token() }, work),
  })
  if (answer.status === 'done') return answer
  scope.events.emit('receipt.hit', { slot: scope.slot.key, entity, effect })
  return { status: 'skipped', result: answer.result as T | undefined }
}

/** What the store answers where the effect is not this attempt's, or not yet. */
type NotTheirs = { readonly status: 'fenced' } | { readonly status: 'leased'; readonly waitMs: number }

/** Asks again while others are at the effect, off the attempt's clock. Answers what the store does once they are not. */
export async function untilTheirs<Answer extends { readonly status: string }>(
  scope: EffectScope,
  attempt: EffectWaiter,
  { effect, ask }: { effect: string; ask: (receipts: ChunkReceipts) => Promise<Answer> },
): Promise<Exclude<Answer, NotTheirs>> {
  const { chunkReceipts: receipts, fence, slot } = scope
  if (receipts === undefined) throw new CronceError('CRONCE_TRANSACTION_UNSET', { slot: slot.key, effect })
  for (;;) {
    attempt.assertCurrent()
    const askedAt = scope.clock.now()
    const answer = await reachPostgres<Answer | NotTheirs>(async () => {
      const standing = await receipts.open()
      if (standing === 'fenced') return { status: 'fenced' }
      if (standing === 'busy') return { status: 'leased', waitMs: BUSY_MS }
      return await ask(receipts)
    })
    if (answer.status === 'fenced') {
      scope.onFenced()
      throw new CronceError('CRONCE_FENCED_OFF', { slot: slot.key, fence })
    }
    if (answer.status !== 'leased') return answer as Exclude<Answer, NotTheirs>
    const { waitMs } = answer as NotTheirs & { status: 'leased' }
    await attempt.pause(Math.min(LONGEST_LOOK_MS, waitMs), scope.clock.now() - askedAt)
  }
}
