import type { RunRef } from '../plan.ts'
import { entityText, runValues } from './effect-values.ts'
import type { PostgresAdapter } from './postgres-adapter.ts'
import { ask, runReceipted } from './receipt-session.ts'

const TAKE =
  'select status, taken, xact from cronce.receipts_take($1::timestamptz, $2::text, $3::text, $4::int, $5::bigint, $6::text, ' +
  '$7::text, $8::text, $9::int, $10::float8)'

/** One effect of several entities of a chunk. */
export interface ChunkEffectRef extends RunRef {
  readonly chunk: number
  readonly entities: readonly string[]
  readonly effect: string
}

/** How an effect of several entities is asked for. */
export interface ChunkEffectRequest {
  readonly fence: number
  readonly token: string
  /** After this long without a statement, the database ends the transaction: its owner froze. At most 24 days. */
  readonly idleMs: number
}

export type ChunkEffectAnswer =
  /** `taken`: positions of the entities that the effect happened for now; the others have their receipt. */
  | { readonly status: 'done'; readonly taken: readonly number[] }
  /** Others are at the effect of one of them, at least until `waitMs` from now. */
  | { readonly status: 'leased'; readonly waitMs: number }
  | { readonly status: 'fenced' }

export interface ChunkEffectOptions {
  readonly adapter: PostgresAdapter
  readonly service: string
  readonly now: () => number | null
}

/** Runs an effect in one transaction with the receipts of all its entities (R2); not at all where each has one. */
export async function runChunkEffect(
  { adapter, service, now }: ChunkEffectOptions,
  ref: ChunkEffectRef,
  effect: ChunkEffectRequest & { readonly run: (tx: unknown, taken: readonly number[]) => Promise<void> },
): Promise<ChunkEffectAnswer> {
  const [slotAt, , slot] = runValues(service, ref)
  // As JSON: adapters differ in what they make of an array.
  const entities = JSON.stringify(ref.entities.map(entityText))
  const values = [
    slotAt,
    service,
    slot,
    ref.chunk,
    effect.fence,
    entities,
    ref.effect,
    effect.token,
    effect.idleMs,
    now(),
  ]
  return await runReceipted<{ positions: number[]; xact: unknown }, ChunkEffectAnswer>(adapter, {
    slot,
    effect: ref.effect,
    async take(session) {
      const [row] = await ask(session, TAKE, values)
      if (row?.['status'] !== 'taken') return { answer: { status: 'fenced' } }
      const positions = readPositions(String(row['taken']), ref.entities.length)
      if (positions.length === 0) return { answer: { status: 'done', taken: [] } }
      return { taken: { positions, xact: row['xact'] } }
    },
    async run(tx, { positions }) {
      await effect.run(tx, positions)
      return { status: 'done', taken: positions }
    },
  })
}

function readPositions(text: string, count: number): number[] {
  if (text === 'all') return Array.from({ length: count }, (_, index) => index)
  return text === '' ? [] : text.split(',').map(Number)
}
