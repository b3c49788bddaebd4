import { migrateReceipts, pgAdapter } from '@cronce/store/postgres'
import { createWorker, handle } from '@cronce/worker'
import { Pool } from 'pg'
import { pino } from 'pino'
import { accountPage, bulkJob, noopJob, onceJob, SERVICE, transactionJob } from './accounts.ts'

// One process of Cronce's side. `cronce-worker.ts <redis url> [postgres url]`
const [url = '', postgresUrl] = process.argv.slice(2)

/** How many entities a run has is in its nominal instant, so that one process serves runs of any size. */
const countOf = ({ at }: { readonly at: number }) => at % 100_000_000

const source = {
  entities: ({ after, limit, slot }: { after: string | undefined; limit: number; slot: { readonly at: number } }) =>
    accountPage({ after, limit, count: countOf(slot) }),
}

const postgres =
  postgresUrl === undefined
    ? undefined
    : pgAdapter(new Pool({ connectionString: postgresUrl, max: 20 }), { statements: 'named' })
if (postgres !== undefined) await migrateReceipts(postgres)

const worker = createWorker({
  service: SERVICE,
  redis: url,
  queues: { default: 16 },
  logger: pino({ level: 'warn' }),
  watchdog: 'off',
  ...(postgres === undefined ? {} : { receipts: { postgres } }),
  handlers: [
    handle(noopJob, { ...source, each: async () => undefined }),
    handle(onceJob, { ...source, each: (_, ctx) => ctx.once('effect', () => undefined) }),
    handle(bulkJob, { ...source, eachChunk: (_, ctx) => ctx.transaction('effect', () => undefined) }),
    handle(transactionJob, { ...source, each: (_, ctx) => ctx.transaction('effect', () => undefined) }),
  ],
})
await worker.start()
process.stdout.write('ready\n')
process.once('SIGTERM', () => void worker.stop().finally(() => process.exit()))
