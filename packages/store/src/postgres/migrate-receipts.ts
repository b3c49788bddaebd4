import { readdirSync, readFileSync } from 'node:fs'
import type { PostgresAdapter, PostgresSession } from './postgres-adapter.ts'

const FOLDER = new URL('../../sql/', import.meta.url)

/** Any number, the same in every release: two that migrate at once wait for each other. */
const LOCK = 20_260_825

/** One numbered file of the package's `sql` folder. */
export interface Migration {
  readonly number: number
  readonly name: string
  /** Several statements; the last one records the file as applied. */
  readonly text: string
}

/** The files, in order: for those who apply them by a tool of their own. Each belongs into one transaction. */
export function listMigrations(): Migration[] {
  const files = readdirSync(FOLDER).toSorted()
  return files.flatMap((file) => {
    const [, number, name] = /^(\d{4})-(.+)\.sql$/.exec(file) ?? []
    if (number === undefined || name === undefined) return []
    return [{ number: Number(number), name, text: readFileSync(new URL(file, FOLDER), 'utf8') }]
  })
}

/**
 * Applies what of the package's SQL is not there yet, in order, in one transaction under an advisory lock: every replica may call it
 * at its start, and somebody else having done it is success. Needs the right to create a schema, and an adapter that sends several
 * statements in one text (`pgAdapter` does).
 *
 * @returns the numbers of the files that were applied now
 */
export async function migrateReceipts(adapter: PostgresAdapter): Promise<number[]> {
  return await adapter.transaction(async (session) => {
    await session.query(`select pg_advisory_xact_lock(${LOCK})`)
    const applied = await appliedNumbers(session)
    const missing = listMigrations().filter(({ number }) => !applied.has(number))
    for (const { text } of missing) await session.query(text)
    return missing.map(({ number }) => number)
  })
}

async function appliedNumbers(session: PostgresSession): Promise<ReadonlySet<number>> {
  const found = await session.query(`select to_regclass('cronce.migration')::text as name`)
  if (found.rows[0]?.['name'] == null) return new Set()
  const { rows } = await session.query('select number from cronce.migration')
  return new Set(rows.map((row) => Number(row['number'])))
}
