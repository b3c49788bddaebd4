import { migrateReceipts, type PostgresAdapter, pgAdapter } from '@cronce/store/postgres'
import { Pool } from 'pg'

/** Receipts in Postgres, on a pool of this process. */
export interface ReceiptPool {
  readonly adapter: PostgresAdapter
  /** Brings the tables up to date; at every start of every process, one applies and the others wait. */
  readonly prepare: () => Promise<void>
  close(): Promise<void>
}

/** Effects at once in Postgres; those beyond it wait for a client. */
const MOST_CLIENTS = 20

/** How long a client may take to be there, ms. */
const CONNECT_MS = 5_000

export function openReceiptPool(url: string, onError: (error: Error) => void): ReceiptPool {
  const pool = new Pool({ connectionString: url, max: MOST_CLIENTS, connectionTimeoutMillis: CONNECT_MS })
  // A connection that breaks while nobody uses it; without a listener it would end the process.
  pool.on('error', onError)
  const adapter = pgAdapter(pool)
  return {
    adapter,
    prepare: async () => void (await migrateReceipts(adapter)),
    close: () => pool.end(),
  }
}
