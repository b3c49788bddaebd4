import { describe, expect, it } from 'vitest'
import { explain } from './explain.ts'
import { type CronOptions, cron, every } from './schedule.ts'

function textsOf(expression: string, zone: string, options: CronOptions = {}): readonly string[] {
  return explain(cron(expression, { zone, ...options }), 2026).map(({ date, text }) => `${date} ${text}`)
}

describe('explain', () => {
  it('shows the two days a year that matter', () => {
    expect(explain(cron('0 2 * * *', { zone: 'Europe/Berlin' }), 2027)).toEqual([
      {
        kind: 'missing',
        at: '2027-03-28T01:00:00.000Z',
        date: '2027-03-28',
        text: '02:00 does not exist: runs at 03:00 CEST (01:00Z)',
      },
      {
        kind: 'repeated',
        at: '2027-10-31T01:00:00.000Z',
        date: '2027-10-31',
        text: '02:00 comes twice: runs at the first, 00:00Z',
      },
    ])
  })

  it.each<[string, string, CronOptions, readonly string[]]>([
    ['30 2 * * *', 'America/New_York', { missingTime: 'skip' }, ['2026-03-08 02:30 does not exist: does not run']],
    [
      '30 2 * * *',
      'America/New_York',
      { missingTime: 'shift' },
      ['2026-03-08 02:30 does not exist: runs at 03:30 EDT (07:30Z)'],
    ],
    [
      '15,45 2 * * *',
      'America/New_York',
      {},
      ['2026-03-08 02:15 and 02:45 do not exist: one run at 03:00 EDT (07:00Z)'],
    ],
    [
      '15,45 2 * * *',
      'America/New_York',
      { missingTime: 'shift' },
      ['2026-03-08 02:15 and 02:45 do not exist: run at 03:15 and 03:45 EDT (from 07:15Z)'],
    ],
    [
      '0 2,3 * * *',
      'America/New_York',
      {},
      ['2026-03-08 02:00 does not exist: one run, together with 03:00 EDT (07:00Z)'],
    ],
    [
      '30 1 * * *',
      'America/New_York',
      { repeatedTime: 'second' },
      ['2026-11-01 01:30 comes twice: runs at the second, 06:30Z'],
    ],
    [
      '30 1 * * *',
      'America/New_York',
      { repeatedTime: 'both' },
      ['2026-11-01 01:30 comes twice: runs both times, 05:30Z and 06:30Z'],
    ],
    [
      '0,20,40 1 * * *',
      'America/New_York',
      {},
      ['2026-11-01 01:00 to 01:40 (3 times) come twice: run at the first, from 05:00Z'],
    ],
    [
      '*/30 2 * * *',
      'America/New_York',
      {},
      ['2026-03-08 02:00 and 02:30 do not exist: no run for them, real time goes on'],
    ],
    [
      '*/30 1 * * *',
      'America/New_York',
      {},
      ['2026-11-01 01:00 and 01:30 come twice: run both times, from 05:00Z and 06:00Z, real time goes on'],
    ],
    [
      '30 2 * * *',
      'Australia/Sydney',
      {},
      [
        '2026-04-05 02:30 comes twice: runs at the first, 2026-04-04T15:30Z',
        '2026-10-04 02:30 does not exist: runs at 03:00 AEDT (2026-10-03T16:00Z)',
      ],
    ],
    [
      '15 2 * * *',
      'Australia/Lord_Howe',
      {},
      ['2026-10-04 02:15 does not exist: runs at 02:30 LHDT (2026-10-03T15:30Z)'],
    ],
    ['0 * * * *', 'Australia/Lord_Howe', {}, ['2026-10-04 02:00 does not exist: no run for it, real time goes on']],
    ['0 0 * * *', 'Africa/Cairo', {}, ['2026-04-24 00:00 does not exist: runs at 01:00 EEST (2026-04-23T22:00Z)']],
  ])('%s in %s with %j', (...[expression, zone, options, expected]) => {
    expect(textsOf(expression, zone, options)).toEqual(expected)
  })

  it.each([
    ['0 12 * * *', 'Europe/Berlin'],
    ['*/5 * * * *', 'Europe/Berlin'],
    ['0 2 * * *', 'Asia/Kathmandu'],
    ['0 2 * * *', 'UTC'],
    ['0 2 * * MON', 'Europe/Berlin'],
  ])('has nothing to say about %s in %s', (expression, zone) => {
    expect(textsOf(expression, zone)).toEqual([])
  })

  it('has nothing to say about intervals', () => {
    expect(explain(every('15m'), 2026)).toEqual([])
  })

  it('keeps a busy list short', () => {
    const [gap] = explain(cron('* 0-59 2 * * 0', { zone: 'America/New_York', seconds: true }), 2026)
    expect(gap?.text).toBe('02:00 and 3599 more times do not exist: one run at 03:00 EDT (07:00Z)')
  })

  it.each([1.5, 0, 10_000, Number.NaN])('refuses the year %s', (year) => {
    expect(() => explain(cron('0 2 * * *'), year)).toThrowError(
      expect.objectContaining({ code: 'CRONCE_SCHEDULE_VALUE' }),
    )
  })
})
