import { cron, defineJob } from '@cronce/core'
import { packageScope } from '../entities/package-scope.ts'

/** On weekdays, one mail per large scope. A digest that comes twice is worse than none, so a crash leaves it out. */
export const dailyDigest = defineJob({
  name: 'daily-digest',
  description: 'The morning mail to the maintainers of large scopes',
  schedule: cron('0 8 * * 1-5', { zone: 'America/New_York' }),
  onCrash: 'skip',
  catchUp: { mode: 'latest', within: '4h' },
  // Nobody wants yesterday's digest beside today's.
  expire: '4h',
  tolerance: { start: '15m', finish: '30m' },
  entity: { schema: packageScope, key: ({ scope }) => scope },
  chunk: { size: 10, concurrency: 2 },
  retry: { attempts: 2, backoff: { type: 'fixed', delay: '2s' } },
  timeout: '10s',
})
