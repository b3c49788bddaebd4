import { randomUUID } from 'node:crypto'
import { formatSlotId } from '@cronce/core'
import { migrateReceipts, type PostgresReceipts, pgAdapter, postgresReceipts } from '@cronce/store/postgres'
import { Pool } from 'pg'
import { afterAll, beforeAll } from 'vitest'
import { describeNeeding, type PostgresServer, startPostgres } from '../support/index.ts'
import { describeReceipts, type HeldChunk } from './receipts.contract.ts'

describeNeeding(['postgres'], 'on a Postgres of its own', () => {
  let server: PostgresServer
  let pool: Pool
  beforeAll(async () => {
    server = await startPostgres()
    pool = new Pool({ connectionString: server.url, max: 10 })
    await migrateReceipts(pgAdapter(pool))
  })
  afterAll(async () => {
    await pool?.end()
    await server?.stop()
  })

  /** The worker writes fences of Redis here: the chunk is opened by its holder and closed when Redis has settled it. */
  async function hold(receipts: PostgresReceipts, { at, manual }: { at: number; manual: number }): Promise<HeldChunk> {
    const run = { job: 'billing', id: formatSlotId(at, manual) }
    let fence = 1
    const open = (chunk: number) => receipts.openChunk({ ...run, chunk, fence })
    await open(0)
    return {
      ...{ run, number: 0, fence },
      takeOver: async () => {
        fence += 1
        await open(0)
        return fence
      },
      settle: () => receipts.closeChunks([{ ...run, chunk: 0, fence }]),
      redrive: async () => {
        fence = 1
        await open(1)
        return { number: 1, fence }
      },
    }
  }

  describeReceipts('Postgres', () => {
    let now = Date.UTC(2026, 7, 25, 2)
    let runs = 0
    const service = `test-${randomUUID().slice(0, 8)}`
    const receipts = postgresReceipts({ adapter: pgAdapter(pool), service, virtualTime: () => now })
    return {
      receipts,
      hold: () => hold(receipts, { at: now, manual: (runs += 1) }),
      pass: (ms) => void (now += ms),
    }
  })
})
