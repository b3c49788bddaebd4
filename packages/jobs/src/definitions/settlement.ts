import { defineJob, every } from '@cronce/core'

/**
 * Settles open payments through a queue of its own. Where no worker serves `finance`, its slots come due, are enqueued and
 * do not start, and the alarm says so after ten seconds.
 */
export const settlement = defineJob({
  name: 'settlement',
  description: 'Settles open payments; needs a worker for the queue finance',
  schedule: every('30s'),
  onCrash: 'complete',
  overlap: 'skip',
  tolerance: { start: '10s', finish: '5m' },
  queue: 'finance',
})
