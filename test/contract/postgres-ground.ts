import { randomUUID } from 'node:crypto'
import { formatSlotId } from '@cronce/core'
import type { EffectRef } from '@cronce/store'
import {
  migrateReceipts,
  type PostgresReceipts,
  pgAdapter,
  postgresReceipts,
  type TransactionAnswer,
  type TransactionRequest,
} from '@cronce/store/postgres'
import { Pool, type PoolClient } from 'pg'
import { type PostgresServer, waitUntil } from '../support/index.ts'

/** A database of its own with the tables of receipts, and a table `effect (what, pid)` that effects write into. */
export interface PostgresGround {
  readonly url: string
  readonly pool: Pool
  readonly service: string
  readonly receipts: PostgresReceipts
  ref(part?: Partial<EffectRef>): EffectRef
  /** An effect in a transaction; waits while others are at it. */
  effect<T = undefined>(
    ref: EffectRef,
    request?: Partial<TransactionRequest>,
    run?: (tx: PoolClient) => Promise<T>,
  ): Promise<TransactionAnswer<T>>
  /** What effects have written: what, in order. */
  happened(): Promise<string[]>
  close(): Promise<void>
}

export async function openPostgresGround(server: PostgresServer): Promise<PostgresGround> {
  const url = await server.createDatabase(`d${randomUUID().slice(0, 8)}`)
  const pool = new Pool({ connectionString: url, max: 12 })
  pool.on('error', () => undefined)
  const adapter = pgAdapter(pool)
  await migrateReceipts(adapter)
  await pool.query('create table effect (what text not null, pid integer not null, at serial)')
  const service = 'billing-api'
  const receipts = postgresReceipts({ adapter, service })
  let tokens = 0
  return {
    ...{ url, pool, service, receipts },
    ref: (part = {}) => ({
      ...{ job: 'billing', id: formatSlotId(Date.UTC(2026, 7, 25, 2)), chunk: 0, entity: 'a', effect: 'charge' },
      ...part,
    }),
    async effect<T = undefined>(
      ref: EffectRef,
      request: Partial<TransactionRequest> = {},
      run?: (tx: PoolClient) => Promise<T>,
    ) {
      const write = async (tx: unknown): Promise<T> => {
        const client = tx as PoolClient
        await client.query('insert into effect values ($1, $2)', [`${ref.entity} ${ref.effect}`, process.pid])
        return (await run?.(client)) as T
      }
      const token = `t${(tokens += 1)}`
      return await waitUntil(
        async () => {
          const answer = await receipts
            .transaction(ref, { fence: 1, token, idleMs: 60_000, ...request }, write)
            .catch((error: unknown) => ({ status: 'thrown' as const, error }))
          return answer.status === 'leased' ? undefined : answer
        },
        { message: `${ref.effect} of ${ref.entity}` },
      ).then((answer) => {
        if (answer.status === 'thrown') throw answer.error
        return answer
      })
    },
    async happened() {
      const { rows } = await pool.query<{ what: string }>('select what from effect order by at')
      return rows.map(({ what }) => what)
    },
    close: () => pool.end(),
  }
}
