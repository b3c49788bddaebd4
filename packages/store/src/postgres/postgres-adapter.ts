/** A row of an answer. */
export type PostgresRow = Readonly<Record<string, unknown>>

/** What runs statements: a connection, or a transaction on one. Values stand for `$1`, `$2`..., each used once and in order. */
export interface PostgresSession {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly PostgresRow[] }>
}

/**
 * How receipts reach your database: {@link pgAdapter} for a `pg` Pool, an object of two functions for what has a pool of its own
 * (Prisma, Drizzle, Knex: docs/receipts.md has each).
 */
export interface PostgresAdapter<Tx = unknown> extends PostgresSession {
  /**
   * Runs `work` in a transaction of isolation level read committed: commits when it resolves, rolls back and throws on when it
   * rejects. `tx` is what handlers get; `session` runs statements in the same transaction.
   */
  transaction<T>(work: (session: PostgresSession, tx: Tx) => Promise<T>): Promise<T>
  /**
   * `checked`: a commit that Postgres turned into a rollback, because a statement had failed and its error was swallowed, is thrown
   * as an error. Without it each transaction ends with one statement more, which finds that out.
   */
  readonly commit?: 'checked'
}
