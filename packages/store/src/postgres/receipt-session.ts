import { CronceError } from '@cronce/core'
import type { PostgresAdapter, PostgresSession } from './postgres-adapter.ts'
import { isBusy, sqlStateOf } from './sql-state.ts'

/** Fails in a transaction in which a statement has failed, whoever swallowed its error; tells which transaction it is in. */
const STANDS = 'select pg_current_xact_id_if_assigned()::text as xact'

/** How long a lock that others hold may keep an effect from being looked at again, ms. */
export const BUSY_MS = 200

/** What a missing schema, table or function, and a wrong isolation level, mean to the reader. */
export async function ask(session: PostgresSession, text: string, values: unknown[]) {
  try {
    return (await session.query(text, values)).rows
  } catch (error) {
    const state = sqlStateOf(error) ?? ''
    if (state === 'CR001') throw new CronceError('CRONCE_RECEIPT_ISOLATION', {}, { cause: error })
    if (['3F000', '42P01', '42883'].includes(state)) {
      throw new CronceError('CRONCE_RECEIPT_SCHEMA', { reason: (error as Error).message }, { cause: error })
    }
    throw error
  }
}

/** An effect and its receipts in one transaction. */
export interface ReceiptedEffect<Taken extends { readonly xact: unknown }, Answer> {
  /** For errors. */
  readonly slot: string
  readonly effect: string
  /** Takes the receipts, or answers why the effect is not to run. */
  readonly take: (session: PostgresSession) => Promise<{ readonly taken: Taken } | { readonly answer: Answer }>
  readonly run: (tx: unknown, taken: Taken, session: PostgresSession) => Promise<Answer>
}

/** Runs it. `leased` where the receipts were not to be had because others are at them; the effect has not begun then. */
export async function runReceipted<Taken extends { readonly xact: unknown }, Answer>(
  adapter: PostgresAdapter,
  { slot, effect, take, run }: ReceiptedEffect<Taken, Answer>,
): Promise<Answer | { readonly status: 'leased'; readonly waitMs: number }> {
  let begun: 'asking' | 'running' = 'asking'
  try {
    return await adapter.transaction(async (session, tx): Promise<Answer> => {
      const asked = await take(session)
      if ('answer' in asked) return asked.answer
      begun = 'running'
      const answer = await run(tx, asked.taken, session)
      if (adapter.commit !== 'checked') {
        const [row] = await ask(session, STANDS, [])
        if (row?.['xact'] !== asked.taken.xact) throw new CronceError('CRONCE_TRANSACTION_APART', { slot, effect })
      }
      return answer
    })
  } catch (error) {
    // A deadlock of the effect's own is the effect's.
    if (begun === 'asking' && isBusy(error)) return { status: 'leased', waitMs: BUSY_MS }
    if (sqlStateOf(error) !== '25P02') throw error
    throw new CronceError('CRONCE_TRANSACTION_ABORTED', {}, { cause: error })
  }
}
