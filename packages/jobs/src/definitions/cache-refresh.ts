import { defineJob, every } from '@cronce/core'

/**
 * Every second, one piece of work without entities. The next second repeats it anyway: nothing is made good after a crash.
 * After an outage the slots of the last minute run late, so that every one of them is seen. Refreshes may overlap, because each replaces the whole cache.
 */
export const cacheRefresh = defineJob({
  name: 'cache-refresh',
  description: 'Keeps the list of most used packages warm',
  schedule: every('1s'),
  onCrash: 'skip',
  catchUp: { mode: 'late', within: '1m', atMost: 30 },
  overlap: 'allow',
  tolerance: { start: '30s', finish: '1m' },
  retry: { attempts: 1 },
  timeout: '5s',
})
