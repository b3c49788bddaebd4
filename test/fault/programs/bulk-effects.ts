import type { JobDefinition } from '@cronce/core'
import { pgAdapter } from '@cronce/store/postgres'
import { type EntitySource, type Handler, handle } from '@cronce/worker'
import { Pool } from 'pg'
import type { Row } from './job-spec.ts'

/** Where in a call with a chunk a worker dies: between its effects and their commit, or between the commit and its end. */
export type BulkDeath = 'die-before-commit' | 'die-after-commit'

export interface BulkActs {
  readonly entities: EntitySource
  /** Does what was told for an entity, where it was told one of these. */
  readonly act: (id: string, ...kinds: BulkDeath[]) => void
}

const INSERT = 'insert into effect (what, pid) select unnest($1::text[]), $2'

/** Handlers whose effects are rows of the table `effect (what, pid)`, with receipts in the same transaction. */
export function openBulk(url: string) {
  const pool = new Pool({ connectionString: url, max: 4 })
  return {
    options: { receipts: { postgres: pgAdapter(pool) } },
    handler: (job: JobDefinition<string, Row>, { entities, act }: BulkActs): Handler =>
      handle(job, {
        entities,
        // Where it failed, or its worker died, it is called with one entity.
        eachChunk: async (rows, context) => {
          await context.transaction('charge', async (tx, left) => {
            await tx.query(INSERT, [left.map(({ id }) => id), process.pid])
            for (const { id } of left) act(id, 'die-before-commit')
          })
          for (const { id } of rows) act(id, 'die-after-commit')
        },
      }),
  }
}
