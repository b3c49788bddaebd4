import { migrateReceipts, pgAdapter } from '@cronce/store/postgres'
import { Pool } from 'pg'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { type PostgresServer, startPostgres } from './postgres-server.ts'
import { type RedisServer, startRedis } from './redis-server.ts'

/** A Redis, and a Postgres with the tables of receipts and a table `effect` that handlers write into. */
export interface ReceiptsGround {
  readonly redis: RedisServer
  readonly postgres: PostgresServer
  readonly pool: Pool
}

/** Has both for the tests of the describe it is called in; `effect` has these columns, and is empty before each test. */
export function standOnReceipts(columns: string, onOpen: (ground: ReceiptsGround) => void): void {
  let ground: ReceiptsGround | undefined
  beforeAll(async () => {
    const [redis, postgres] = await Promise.all([startRedis(), startPostgres()])
    const pool = new Pool({ connectionString: postgres.url, max: 10 })
    pool.on('error', () => undefined)
    ground = { redis, postgres, pool }
    await migrateReceipts(pgAdapter(pool))
    await pool.query(`create table effect (${columns})`)
    onOpen(ground)
  })
  afterAll(async () => {
    await ground?.pool.end()
    await Promise.all([ground?.postgres.stop(), ground?.redis.stop()])
  })
  beforeEach(async () => void (await ground?.pool.query('truncate effect')))
}
