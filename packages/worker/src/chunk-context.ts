import type { Cause } from '@cronce/core'
import type { Logger } from 'pino'
import type { RunSlot } from './run-slot.ts'
import type { Transaction } from './transaction.ts'

/** What `eachChunk` runs with. */
export interface ChunkContext<Entity> {
  readonly slot: RunSlot
  /** Why it runs: on time, late, catch-up, backfill, by hand. */
  readonly cause: Cause
  /** Fires when the call is over: timed out, the worker stops, or another worker took over. Heed it. */
  readonly signal: AbortSignal
  /** A logger with the slot key and the chunk's number. */
  readonly log: Logger
  /**
   * Runs `effect` for the entities of this call in one Postgres transaction, with a receipt of each inside it: for each it happens
   * once, whatever dies. `run` gets those that have no receipt yet; where all have one it is not called. What it throws rolls effect
   * and receipts back. Under way elsewhere, or a Postgres out of reach: as `ctx.transaction` of `each`.
   *
   * @param effect names it within each entity: the same name in `each` is the same effect.
   * @throws what `run` throws; CronceError CRONCE_TRANSACTION_UNSET, CRONCE_TRANSACTION_ABORTED, CRONCE_EFFECT_INVALID,
   *   CRONCE_ATTEMPT_OVER, CRONCE_FENCED_OFF
   * @example
   * await ctx.transaction('invoice', (tx, accounts) =>
   *   tx.query('insert into invoice (account) select unnest($1::text[])', [accounts.map(({ id }) => id)]))
   */
  readonly transaction: (
    effect: string,
    run: (tx: Transaction, entities: readonly Entity[]) => unknown,
  ) => Promise<ChunkTransactionOutcome>
  /**
   * Text for another system's idempotency key: the same as `ctx.idempotencyKey(effect)` of that entity in `each`.
   *
   * @throws CronceError CRONCE_EFFECT_INVALID
   */
  readonly idempotencyKey: (entity: Entity, effect: string) => string
}

/** For how many entities the effect happened now, and how many had their receipt. */
export interface ChunkTransactionOutcome {
  readonly done: number
  readonly skipped: number
}
