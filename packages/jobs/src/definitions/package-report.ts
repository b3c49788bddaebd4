import { cron, defineJob } from '@cronce/core'
import { npmPackage } from '../entities/npm-package.ts'

/** Every night, one line of the report per package: large, and every package must be in it, so a crash is made good. */
export const packageReport = defineJob({
  name: 'package-report',
  description: 'The nightly report over every package',
  schedule: cron('0 2 * * *', { zone: 'Europe/Berlin' }),
  onCrash: 'complete',
  catchUp: { mode: 'late', within: '6h', atMost: 3 },
  tolerance: { start: '10m', finish: '1h' },
  entity: { schema: npmPackage, key: ({ name }) => name },
  chunk: { size: 100, concurrency: 10 },
  // Short waits: the receiver fails now and then and is back at once.
  retry: { attempts: 3, backoff: { type: 'exponential', delay: '500ms', cap: '5s', jitter: 0.5 } },
  timeout: '30s',
  queue: 'reports',
})
