import { createWorker, handle } from '@cronce/worker'
import { pino } from 'pino'
import { accountPage, noopJob, onceJob, SERVICE } from './accounts.ts'

// One process of Cronce's side. `cronce-worker.ts <redis url>`
const [url = ''] = process.argv.slice(2)

/** How many entities a run has is in its nominal instant, so that one process serves runs of any size. */
const countOf = ({ at }: { readonly at: number }) => at % 100_000_000

const worker = createWorker({
  service: SERVICE,
  redis: url,
  queues: { default: 4 },
  logger: pino({ level: 'warn' }),
  watchdog: 'off',
  handlers: [
    handle(noopJob, {
      entities: ({ after, limit, slot }) => accountPage({ after, limit, count: countOf(slot) }),
      each: async () => undefined,
    }),
    handle(onceJob, {
      entities: ({ after, limit, slot }) => accountPage({ after, limit, count: countOf(slot) }),
      each: (_, ctx) => ctx.once('effect', () => undefined),
    }),
  ],
})
await worker.start()
process.stdout.write('ready\n')
process.once('SIGTERM', () => void worker.stop().finally(() => process.exit()))
