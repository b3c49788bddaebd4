import { createHash } from 'node:crypto'
import { CronceError } from '@cronce/core'
import type { PostgresAdapter, PostgresRow } from './postgres-adapter.ts'

interface PgAnswer {
  readonly rows: PostgresRow[]
  readonly command: string
}

/** The part of a `pg` client that is used here. */
export interface PgClient {
  query(text: string, values?: unknown[]): Promise<PgAnswer>
  query(statement: { readonly name: string; readonly text: string; readonly values: unknown[] }): Promise<PgAnswer>
  on(event: 'error', listener: (error: Error) => void): unknown
  off(event: 'error', listener: (error: Error) => void): unknown
  release(destroy?: Error | boolean): void
}

/** The part of a `pg` Pool that is used here. */
export interface PgPool<Client extends PgClient> {
  connect(): Promise<Client>
}

export interface PgAdapterOptions {
  /**
   * `named`: each connection prepares our few statements once, and Postgres parses them no more. Not behind a pooler that hands
   * connections round between transactions, unless it knows prepared statements (PgBouncer does from 1.21 on). Default `unnamed`.
   */
  readonly statements?: 'named' | 'unnamed'
}

/**
 * Receipts on a `pg` Pool that the caller makes and ends. An effect holds one client for as long as it runs, so the pool's `max`
 * bounds how many run at once; those beyond it wait, within their timeout.
 *
 * @throws CronceError of its functions: CRONCE_POSTGRES_UNREACHABLE, CRONCE_TRANSACTION_ABORTED
 * @example
 * const pool = new pg.Pool({ connectionString: url, max: 20 })
 * pool.on('error', (error) => log.warn(error))   // a connection that breaks while nobody uses it
 * createWorker({ ..., receipts: { postgres: pgAdapter(pool) } })
 */
export function pgAdapter<Client extends PgClient>(
  pool: PgPool<Client>,
  { statements = 'unnamed' }: PgAdapterOptions = {},
): PostgresAdapter<Client> {
  const names = new Map<string, string>()
  const ask = (client: Client, text: string, values?: unknown[]) => {
    // What has no values may be several statements in one text, as those of a migration are.
    if (statements === 'unnamed' || values === undefined) return client.query(text, values)
    // By its text, so that whoever else shares the pool never means another statement by it.
    const name = names.get(text) ?? `cronce_${createHash('sha256').update(text).digest('base64url').slice(0, 16)}`
    names.set(text, name)
    return client.query({ name, text, values })
  }
  return {
    commit: 'checked',
    query: (text, values) => withClient(pool, ({ client }) => ask(client, text, values)),
    transaction: (work) =>
      withClient(pool, async (hold) => {
        const { client } = hold
        await client.query('BEGIN ISOLATION LEVEL READ COMMITTED')
        try {
          const answer = await work({ query: (text, values) => ask(client, text, values) }, client)
          const { command } = await client.query('COMMIT')
          if (command !== 'COMMIT') throw new CronceError('CRONCE_TRANSACTION_ABORTED')
          return answer
        } catch (error) {
          // On a connection that is gone the rollback fails as well, and has been done by the server.
          await client.query('ROLLBACK').catch((reason: Error) => void (hold.broken ??= reason))
          throw error
        }
      }),
  }
}

/** A client in use, and why it cannot go back into the pool. */
interface Hold<Client> {
  readonly client: Client
  broken: Error | undefined
}

async function withClient<Client extends PgClient, T>(
  pool: PgPool<Client>,
  work: (hold: Hold<Client>) => Promise<T>,
): Promise<T> {
  const hold: Hold<Client> = { client: await pool.connect().catch(unreachable), broken: undefined }
  // Without a listener, a server that goes away while the client is ours would end the process.
  const onError = (error: Error) => void (hold.broken ??= error)
  hold.client.on('error', onError)
  try {
    return await work(hold)
  } catch (error) {
    if (hold.broken === undefined && !isEndOfConnection(error)) throw error
    hold.broken ??= new Error('the connection ended')
    return unreachable(error)
  } finally {
    hold.client.off('error', onError)
    hold.client.release(hold.broken)
  }
}

function unreachable(cause: unknown): never {
  const reason = cause instanceof Error ? cause.message : String(cause)
  throw new CronceError('CRONCE_POSTGRES_UNREACHABLE', { reason }, { cause })
}

/** SQLSTATE class 08 and the shutdowns of class 57, after which the server closes the connection. */
function isEndOfConnection(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return code.startsWith('08') || /^57P0[1-5]$/.test(code) || code === '25P03'
}
