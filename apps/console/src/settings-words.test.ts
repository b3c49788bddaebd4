import { cron, defineJob, every } from '@cronce/core'
import { describe, expect, it } from 'vitest'
import { settingChanges, settingsWords } from './settings-words.ts'

const job = defineJob({
  name: 'invoice-run',
  schedule: cron('30 2 * * *', { zone: 'Europe/Berlin', missingTime: 'shift', repeatedTime: 'both' }),
  onCrash: 'complete',
  catchUp: { mode: 'late', within: '6h', atMost: 3 },
  retry: { attempts: 5, backoff: { type: 'exponential', delay: '5s', cap: '10m', jitter: 0.5 } },
  limit: { concurrency: 4, rate: { max: 100, per: '1m' } },
  queue: 'billing',
})

describe('a definition in words', () => {
  it('says every choice of its author', () => {
    const words = Object.fromEntries(settingsWords(job))
    expect(words).toMatchObject({
      Schedule: '30 2 * * * in Europe/Berlin',
      'Clock changes': 'a local time that does not exist runs later by the gap; one that comes twice runs both times',
      'After an outage': 'late: missed slots run, oldest first, up to 6h late and at most 3 per outage',
      Attempts: '5 for each entity, first 5s apart, then twice as long each time up to 10m, jitter 0.5',
      'Limit over all workers': '4 calls at once, 100 entities per 1m',
      Queue: 'billing',
    })
  })

  it('says nothing of clocks where none changes', () => {
    const words = Object.fromEntries(settingsWords({ ...job, schedule: every('15m', { offset: '5m' }) }))
    expect(words).toMatchObject({ Schedule: 'every 15m + 5m, counted from the epoch in UTC' })
    expect(words).not.toHaveProperty('Clock changes')
  })
})

describe('an edit', () => {
  it('is what differs, by its path, and what was not set before', () => {
    const before = { schedule: { expression: '0 2 * * *' }, chunk: { size: 100 }, queue: 'a' }
    const after = { schedule: { expression: '0 3 * * *' }, chunk: { size: 100 }, queue: 'a', expireMs: 5 }
    expect(settingChanges(before, after)).toEqual([
      { path: 'expireMs', before: '', after: '5' },
      { path: 'schedule.expression', before: '"0 2 * * *"', after: '"0 3 * * *"' },
    ])
    expect(settingChanges(before, before)).toEqual([])
  })
})
