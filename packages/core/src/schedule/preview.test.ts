import { describe, expect, it } from 'vitest'
import { previewSlots } from './preview.ts'
import { cron, every } from './schedule.ts'
import { nextSlot } from './slots.ts'

describe('previewSlots', () => {
  it('shows the slot of the gap as it will be', () => {
    const schedule = cron('30 2 * * *', { zone: 'America/New_York' })
    expect(previewSlots(schedule, { from: Date.parse('2026-03-07T12:00:00Z'), count: 2 })).toEqual([
      {
        at: '2026-03-08T07:00:00.000Z',
        local: '2026-03-08T03:00:00-04:00[America/New_York]',
        display: '2026-03-08 03:00 EDT',
        note: '02:30 does not exist that night',
      },
      {
        at: '2026-03-09T06:30:00.000Z',
        local: '2026-03-09T02:30:00-04:00[America/New_York]',
        display: '2026-03-09 02:30 EDT',
      },
    ])
  })

  it('goes back newest first, strictly before, and tells the passes apart', () => {
    const schedule = cron('30 1 * * *', { zone: 'Europe/London', repeatedTime: 'both' })
    const rows = previewSlots(schedule, { from: Date.parse('2026-10-26T01:30:00Z'), count: 3, direction: 'prev' })
    expect(rows.map(({ at, display, note }) => [at, display, note])).toEqual([
      ['2026-10-25T01:30:00.000Z', '2026-10-25 01:30 GMT', '01:30 comes twice that night: the second'],
      ['2026-10-25T00:30:00.000Z', '2026-10-25 01:30 BST', '01:30 comes twice that night: the first'],
      ['2026-10-24T00:30:00.000Z', '2026-10-24 01:30 BST', undefined],
    ])
  })

  it.each([
    ['at-gap-end', '15,45 2 * * *', ['15:30 02:15 does not exist that night', '15:45 undefined']],
    ['shift', '15,45 2 * * *', ['15:45 02:15 does not exist that night']],
    ['skip', '15,45 2 * * *', ['15:45 undefined']],
  ] as const)('notes in a half-hour zone under %s', (missingTime, expression, expected) => {
    const schedule = cron(expression, { zone: 'Australia/Lord_Howe', missingTime })
    const rows = previewSlots(schedule, { from: Date.parse('2026-10-03T15:00:00Z'), count: expected.length })
    expect(rows.map(({ at, note }) => `${at.slice(11, 16)} ${note}`)).toEqual(expected)
  })

  it('shows seconds and offsets where there are any', () => {
    const schedule = cron('5 0 9 * * *', { zone: 'Asia/Kathmandu', seconds: true })
    expect(previewSlots(schedule, { from: 0, count: 1 })).toEqual([
      {
        at: '1970-01-01T03:30:05.000Z',
        local: '1970-01-01T09:00:05+05:30[Asia/Kathmandu]',
        display: '1970-01-01 09:00:05 GMT+5:30',
      },
    ])
    const old = previewSlots(cron('0 12 * * *', { zone: 'America/New_York' }), {
      from: Date.parse('1850-01-01T00:00:00Z'),
      count: 1,
    })
    expect(old[0]?.local).toBe('1850-01-01T12:00:00-04:56:02[America/New_York]')
  })

  it('shows intervals in UTC', () => {
    expect(previewSlots(every('6h'), { from: 0, count: 1 })).toEqual([
      { at: '1970-01-01T06:00:00.000Z', local: '1970-01-01T06:00:00+00:00[UTC]', display: '1970-01-01 06:00 UTC' },
    ])
  })

  it('is the chain that is fired', () => {
    const schedule = cron('0 */7 * * *', { zone: 'America/Santiago' })
    const from = Date.parse('2026-09-04T00:00:00Z')
    let at = from
    for (const row of previewSlots(schedule, { from, count: 40 })) {
      at = nextSlot(schedule, at) as number
      expect(Date.parse(row.at)).toBe(at)
      expect(Date.parse(row.local.slice(0, row.local.indexOf('[')))).toBe(at)
    }
  })

  it.each([-1, 1.5, 1e9, Number.NaN])('refuses %s rows', (count) => {
    expect(() => previewSlots(cron('* * * * *'), { from: 0, count })).toThrowError(
      expect.objectContaining({ code: 'CRONCE_SCHEDULE_VALUE' }),
    )
  })
})
