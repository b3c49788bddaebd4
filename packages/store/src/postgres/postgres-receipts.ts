import { CronceError } from '@cronce/core'
import type { RunRef } from '../plan.ts'
import type { EffectRef, ReceiptTake, ReceiptWrite } from '../receipts.ts'
import type { Receipts } from '../receipts-port.ts'
import { type ChunkEffectAnswer, type ChunkEffectRef, type ChunkEffectRequest, runChunkEffect } from './chunk-effect.ts'
import { entityText, runValues } from './effect-values.ts'
import type { PostgresAdapter, PostgresSession } from './postgres-adapter.ts'
import { ask, BUSY_MS, runReceipted } from './receipt-session.ts'
import { isBusy } from './sql-state.ts'

const TAKE =
  'select status, now_ms, until_ms, result, xact from cronce.receipt_take($1::timestamptz, $2::text, $3::text, $4::int, $5::bigint, ' +
  '$6::text, $7::text, $8::text, $9::float8, $10::text, $11::int, $12::float8)'
const WRITE =
  'select cronce.receipt_write($1::timestamptz, $2::text, $3::text, $4::int, $5::text, $6::text, $7::text, $8::text, ' +
  '$9::float8, $10::float8) as answer'
const KEEP =
  'select cronce.receipt_keep($1::timestamptz, $2::text, $3::text, $4::text, $5::text, $6::text, $7::text::jsonb) as answer'
const OPEN = 'select cronce.chunk_open($1::timestamptz, $2::text, $3::text, $4::int, $5::bigint, $6::float8) as answer'
const CLOSE = 'select cronce.chunks_close($1::text, $2::text, $3::float8)'

/** How often the fold row of a settled chunk is tried for, 50 ms each, while effects of attempts that are over have it. */
const CLOSE_TRIES = 10

export interface PostgresReceiptsOptions {
  readonly service: string
  readonly adapter: PostgresAdapter
  /** A virtual clock for simulation and tests, epoch milliseconds; by default the database decides what time it is (A1). */
  readonly virtualTime?: () => number
}

/** How an effect in a transaction is asked for. */
export interface TransactionRequest {
  readonly fence: number
  readonly token: string
  /** After this long without a statement, the database ends the transaction: its owner froze. At most 24 days. */
  readonly idleMs: number
  /** What the effect is asked to do: another text under the same effect is refused. Default: not compared. */
  readonly fingerprint?: string
  /** `result`: what it returns is kept as JSON in the receipt. Default: nothing is. */
  readonly keep?: 'result'
}

export type TransactionAnswer<T> =
  | { readonly status: 'done'; readonly result: T }
  /** There is a receipt: skipped. `result` is what was kept. */
  | { readonly status: 'skipped'; readonly result: unknown }
  /** Others are at it, at least until `waitMs` from now. */
  | { readonly status: 'leased'; readonly waitMs: number }
  | { readonly status: 'fenced' }

/** A chunk as a holder of it names it. */
export interface ChunkHold extends RunRef {
  readonly chunk: number
  readonly fence: number
}

/** Receipts in Postgres (R2): for effects elsewhere, by lease, and for effects in the same transaction. */
export interface PostgresReceipts extends Receipts {
  /**
   * Runs an effect in one transaction with its receipt. What `run` throws rolls both back.
   *
   * @throws CronceError CRONCE_RECEIPT_CONFLICT, CRONCE_RECEIPT_ISOLATION, CRONCE_RECEIPT_SCHEMA, CRONCE_TRANSACTION_ABORTED,
   *   CRONCE_TRANSACTION_APART,
   *   and what the adapter throws, CRONCE_POSTGRES_UNREACHABLE among it
   */
  transaction<T>(
    ref: EffectRef,
    request: TransactionRequest,
    run: (tx: unknown) => Promise<T>,
  ): Promise<TransactionAnswer<T>>
  /** The same for several entities of a chunk: `run` gets the positions of those that have no receipt yet, if any. */
  transactionOfMany(
    ref: ChunkEffectRef,
    request: ChunkEffectRequest,
    run: (tx: unknown, taken: readonly number[]) => Promise<void>,
  ): Promise<ChunkEffectAnswer>
  /** Writes the holder's fence: no older holder starts an effect from here on. `busy`: an older one is in the middle of one. */
  openChunk(hold: ChunkHold): Promise<'held' | 'fenced' | 'busy'>
  /** R3: these chunks were settled; their holders start no effect either. Not done where effects are under way for too long. */
  closeChunks(holds: readonly ChunkHold[]): Promise<void>
}

export function postgresReceipts(options: PostgresReceiptsOptions): PostgresReceipts {
  const { adapter, service } = options
  const now = () => options.virtualTime?.() ?? null

  const effectKey = (ref: EffectRef) => [...runValues(service, ref), entityText(ref.entity), ref.effect] as const

  async function take(session: PostgresSession, ref: EffectRef, request: Asked): Promise<Taken> {
    const { fence, token, leaseMs = null, fingerprint = null, idleMs = null } = request
    const [slotAt, , slot, entity, effect] = effectKey(ref)
    const head = [slotAt, service, slot, ref.chunk, fence, entity, effect, token]
    const [row] = await ask(session, TAKE, [...head, leaseMs, fingerprint, idleMs, now()])
    const status = String(row?.['status']) as Taken['status']
    if (status === 'conflict') {
      throw new CronceError('CRONCE_RECEIPT_CONFLICT', { slot, entity: ref.entity, effect: ref.effect })
    }
    return {
      status,
      now: Number(row?.['now_ms']),
      untilAt: Number(row?.['until_ms']),
      result: row?.['result'] ?? undefined,
      xact: row?.['xact'],
    }
  }

  async function change(ref: EffectRef, token: string, [what, leaseMs]: [string, number?]): Promise<ReceiptWrite> {
    const [slotAt, , slot, entity, effect] = effectKey(ref)
    const values = [slotAt, service, slot, ref.chunk, entity, effect, token, what, leaseMs ?? null, now()]
    const [row] = await ask(adapter, WRITE, values)
    return row?.['answer'] as ReceiptWrite
  }

  async function unlessBusy<Answer>(text: string, values: unknown[], mostTries = 1): Promise<Answer | 'busy'> {
    for (let tries = 1; ; tries++) {
      try {
        const [row] = await ask(adapter, text, values)
        return row?.['answer'] as Answer
      } catch (error) {
        if (!isBusy(error)) throw error
        if (tries === mostTries) return 'busy'
      }
    }
  }

  /** All of them in one statement; where an effect has one of them, one by one, so that it keeps no other open. */
  async function closeChunks(holds: readonly ChunkHold[]): Promise<void> {
    const list = holds.map((hold) => {
      const [slotAt, , slot] = runValues(service, hold)
      return [slotAt, slot, hold.chunk, hold.fence]
    })
    const answer = await unlessBusy(CLOSE, [service, JSON.stringify(list), now()])
    if (answer !== 'busy') return
    for (const hold of list) await unlessBusy(CLOSE, [service, JSON.stringify([hold]), now()], CLOSE_TRIES)
  }

  return {
    async take(ref, { fence, token, leaseMs }) {
      try {
        const { status, now: at, untilAt } = await take(adapter, ref, { fence, token, leaseMs })
        return { status: status as ReceiptTake['status'], now: at, untilAt }
      } catch (error) {
        if (!isBusy(error)) throw error
        const at = options.virtualTime?.() ?? 0
        return { status: 'leased', now: at, untilAt: at + BUSY_MS }
      }
    },
    write: (ref, token) => change(ref, token, ['done']),
    renew: (ref, { token, leaseMs }) => change(ref, token, ['renew', leaseMs]),
    release: (ref, token) => change(ref, token, ['release']),

    transaction: <T>(ref: EffectRef, request: TransactionRequest, run: (tx: unknown) => Promise<T>) =>
      runReceipted<Taken, TransactionAnswer<T>>(adapter, {
        slot: effectKey(ref)[2],
        effect: ref.effect,
        async take(session) {
          const taken = await take(session, ref, request)
          const { status, now: at, untilAt, result } = taken
          if (status === 'taken') return { taken }
          if (status === 'done') return { answer: { status: 'skipped', result } }
          if (status === 'leased') return { answer: { status, waitMs: Math.max(1, untilAt - at) } }
          return { answer: { status: 'fenced' } }
        },
        async run(tx, _, session) {
          const answer = await run(tx)
          if (request.keep === 'result') {
            await ask(session, KEEP, [...effectKey(ref), request.token, JSON.stringify(answer ?? null)])
          }
          return { status: 'done', result: answer }
        },
      }),
    transactionOfMany: (ref, request, run) => runChunkEffect({ adapter, service, now }, ref, { ...request, run }),

    openChunk: (hold) =>
      unlessBusy<'held' | 'fenced'>(OPEN, [...runValues(service, hold), hold.chunk, hold.fence, now()]),
    closeChunks,
  }
}

interface Asked extends Partial<TransactionRequest> {
  readonly fence: number
  readonly token: string
  readonly leaseMs?: number
}

interface Taken {
  readonly status: ReceiptTake['status'] | 'conflict'
  readonly now: number
  readonly untilAt: number
  readonly result: unknown
  readonly xact: unknown
}
