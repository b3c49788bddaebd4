import type { Cause } from '@cronce/core'
import type { Logger } from 'pino'
import type { RunSlot } from './run-slot.ts'
import type { Transaction, TransactionOutcome, TransactionRequest } from './transaction.ts'

/** What `each` runs with. */
export interface EntityContext {
  readonly slot: RunSlot
  /** Why it runs: on time, late, catch-up, backfill, by hand. */
  readonly cause: Cause
  /** Which attempt at this entity this is, from 1. */
  readonly attempt: number
  /** Fires when the attempt is over: timed out, the worker stops, or another worker took over. Heed it. */
  readonly signal: AbortSignal
  /** A logger with the slot key and the entity's key. */
  readonly log: Logger
  /** Tells how far the handler came: emitted as `entity.progressed` with the sum of the amounts. Default amount 1. */
  readonly progress: (amount?: number) => void
  /**
   * Runs `effect` unless it has a receipt for this slot and entity. Elsewhere under way: waits, without using up the attempt or its
   * timeout. An effect in another system is at least once: give that system {@link idempotencyKey}.
   *
   * @param effect names it within the entity: 1 to 200 characters on one line, the same at every attempt.
   * @returns whether `run` ran now.
   * @throws what `run` throws; CronceError CRONCE_EFFECT_INVALID, CRONCE_ATTEMPT_OVER, CRONCE_FENCED_OFF
   */
  readonly once: (effect: string, run: () => unknown) => Promise<'done' | 'skipped'>
  /**
   * Runs `effect` in one Postgres transaction with its receipt, unless it has one: the effect happens once, whatever dies. Needs
   * the worker's `receipts: { postgres }`. What `run` throws rolls effect and receipt back; so does an attempt that is over when
   * `run` ends. Under way elsewhere: waits, without using up the attempt or its timeout. A Postgres out of reach uses up no
   * attempt either, up to the job's `tolerance.finish`.
   *
   * @param effect names it within the entity: 1 to 200 characters on one line, the same at every attempt.
   * @throws what `run` throws; CronceError CRONCE_TRANSACTION_UNSET, CRONCE_TRANSACTION_ABORTED, CRONCE_RECEIPT_CONFLICT,
   *   CRONCE_EFFECT_INVALID, CRONCE_ATTEMPT_OVER, CRONCE_FENCED_OFF
   * @example
   * await ctx.transaction('invoice', (tx) => tx.query('insert into invoice (account) values ($1)', [account.id]))
   */
  readonly transaction: <T>(
    effect: string,
    run: (tx: Transaction) => T | Promise<T>,
    request?: TransactionRequest,
  ) => Promise<TransactionOutcome<T>>
  /**
   * Text for another system's idempotency key: equal at every attempt at this slot, entity and effect, and of no other. Printable
   * ASCII, at most 255 characters, so that it fits into a header.
   *
   * @throws CronceError CRONCE_EFFECT_INVALID
   */
  readonly idempotencyKey: (effect: string) => string
}
