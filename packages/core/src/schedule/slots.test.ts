import { describe, expect, it } from 'vitest'
import { type CronOptions, type CronSchedule, cron, type EverySchedule, every } from './schedule.ts'
import { countBetween, lastSlot, nextSlot, periodMs, slotsBetween } from './slots.ts'

function ms(iso: string): number {
  return Date.parse(iso)
}

function nextOf(expression: string, options: CronOptions, after: string): string | undefined {
  const slot = nextSlot(cron(expression, options), ms(after))
  return slot === undefined ? undefined : new Date(slot).toISOString()
}

const NEW_YORK = { zone: 'America/New_York' }

describe('nextSlot and lastSlot', () => {
  it('next is strictly after, last includes the instant, milliseconds never leak in', () => {
    const schedule = cron('*/5 * * * *')
    const slot = ms('2026-01-02T00:00:00Z')
    expect(nextSlot(schedule, slot)).toBe(slot + 300_000)
    expect(nextSlot(schedule, slot - 1)).toBe(slot)
    expect(nextSlot(schedule, slot - 0.5)).toBe(slot)
    expect(lastSlot(schedule, slot)).toBe(slot)
    expect(lastSlot(schedule, slot + 0.5)).toBe(slot)
    expect(lastSlot(schedule, slot - 1)).toBe(slot - 300_000)
    expect(nextSlot(schedule, slot + 299_999)).toBe(slot + 300_000)
  })

  it('finds 29 February past 2100, which is no leap year', () => {
    for (const zone of ['UTC', 'America/New_York']) {
      const schedule = cron('0 12 29 2 *', { zone })
      const years = [...slotsBetween(schedule, ms('2090-01-01T00:00:00Z'), ms('2113-01-01T00:00:00Z'))].map((slot) =>
        new Date(slot).getUTCFullYear(),
      )
      expect(years).toEqual([2092, 2096, 2104, 2108, 2112])
      expect(lastSlot(schedule, ms('2103-12-31T00:00:00Z'))).toBe(nextSlot(schedule, ms('2095-01-01T00:00:00Z')))
    }
  })

  it('goes on before 1970', () => {
    expect(lastSlot(cron('0 0 1 1 *'), -1)).toBe(ms('1969-01-01T00:00:00Z'))
    expect(nextSlot(cron('0 0 1 1 *'), ms('1968-06-01T00:00:00Z'))).toBe(ms('1969-01-01T00:00:00Z'))
    expect(lastSlot(every('1h'), -1)).toBe(-3_600_000)
    expect(Object.is(nextSlot(every('1h'), -1), 0)).toBe(true)
  })

  it('ends with the calendar, at once', () => {
    const before = process.cpuUsage()
    for (const schedule of [cron('0 0 29 2 *', NEW_YORK), cron('* * * * *'), cron('0 0 1 1 *'), every('1h')]) {
      expect(nextSlot(schedule, ms('9999-12-31T23:00:00Z'))).toBeUndefined()
      expect(nextSlot(schedule, Number.POSITIVE_INFINITY)).toBeUndefined()
      expect(lastSlot(schedule, Number.NEGATIVE_INFINITY)).toBeUndefined()
      expect(lastSlot(schedule, Number.POSITIVE_INFINITY)).toBeGreaterThan(ms('9990-01-01T00:00:00Z'))
      expect(nextSlot(schedule, Number.NEGATIVE_INFINITY)).toBeLessThan(ms('0010-01-01T00:00:00Z'))
    }
    expect(process.cpuUsage(before).user).toBeLessThan(500_000)
  })

  it('refuses what is no number', () => {
    for (const odd of [Number.NaN, undefined, null, '2026-01-01', new Date(0)]) {
      for (const ask of [nextSlot, lastSlot, periodMs]) {
        expect(() => ask(cron('* * * * *'), odd as never)).toThrowError(
          expect.objectContaining({ code: 'CRONCE_INSTANT_INVALID' }),
        )
      }
      expect(() => countBetween(every('1m'), 0, odd as never)).toThrowError(
        expect.objectContaining({ code: 'CRONCE_INSTANT_INVALID' }),
      )
      expect(() => [...slotsBetween(every('1m'), 0, odd as never)]).toThrowError(
        expect.objectContaining({ code: 'CRONCE_INSTANT_INVALID' }),
      )
    }
  })

  it('refuses stored rows that nobody checked, instead of searching for ever', () => {
    const row = JSON.parse(JSON.stringify(cron('0 2 * * *'))) as CronSchedule
    expect(() => nextSlot({ ...row, expression: '0 2 * *' }, 0)).toThrowError(
      expect.objectContaining({ code: 'CRONCE_SCHEDULE_FIELDS' }),
    )
    expect(() => nextSlot({ ...row, expression: '0 0 30 2 *' }, 0)).toThrowError(
      expect.objectContaining({ code: 'CRONCE_SCHEDULE_NEVER' }),
    )
    expect(() => nextSlot({ ...row, zone: 'Mars/Base' }, 0)).toThrowError(
      expect.objectContaining({ code: 'CRONCE_SCHEDULE_ZONE' }),
    )
    for (const period of [0, -60_000, Number.NaN, undefined]) {
      expect(() => nextSlot({ ...every('1m'), periodMs: period } as EverySchedule, 0)).toThrowError(
        expect.objectContaining({ code: 'CRONCE_SCHEDULE_VALUE' }),
      )
    }
  })

  it('answers for what an object says now, not for what it said before', () => {
    const schedule = { ...cron('0 2 * * *') } as { -readonly [K in keyof CronSchedule]: CronSchedule[K] }
    expect(nextSlot(schedule, 0)).toBe(2 * 3_600_000)
    schedule.expression = '0 3 * * *'
    expect(nextSlot(schedule, 0)).toBe(3 * 3_600_000)
  })
})

describe('daylight saving', () => {
  it.each<[string, CronOptions, string]>([
    ['a missing time runs at the end of the gap', {}, '2026-03-08T07:00:00.000Z'],
    ['or not at all', { missingTime: 'skip' }, '2026-03-09T06:30:00.000Z'],
    ['or later by the length of the gap', { missingTime: 'shift' }, '2026-03-08T07:30:00.000Z'],
  ])('%s', (_rule, options, expected) => {
    expect(nextOf('30 2 * * *', { ...NEW_YORK, ...options }, '2026-03-07T12:00:00Z')).toBe(expected)
  })

  it.each<[string, CronOptions, readonly string[]]>([
    ['a repeated time runs at the first pass', {}, ['2026-11-01T05:30:00.000Z']],
    ['or at the second', { repeatedTime: 'second' }, ['2026-11-01T06:30:00.000Z']],
    ['or at both', { repeatedTime: 'both' }, ['2026-11-01T05:30:00.000Z', '2026-11-01T06:30:00.000Z']],
  ])('%s', (_rule, options, expected) => {
    const slots = slotsBetween(
      cron('30 1 * * *', { ...NEW_YORK, ...options }),
      ms('2026-11-01T04:00:00Z'),
      ms('2026-11-02T04:00:00Z'),
    )
    expect([...slots].map((slot) => new Date(slot).toISOString())).toEqual(expected)
  })

  it.each<[string, string, CronOptions, readonly string[]]>([
    ['two missing times are one slot', '15,45 2 * * *', {}, ['07:00']],
    ['a missing time and the end of the gap are one slot', '30 2,3 * * *', {}, ['07:00', '07:30']],
    ['a shifted time and one of its own are one slot', '30 2,3 * * *', { missingTime: 'shift' }, ['07:30']],
    ['real time: every quarter of an hour', '*/15 * * * *', {}, ['06:30', '06:45', '07:00', '07:15', '07:30']],
    ['real time: no run for hours that are missing', '0 */2 * * *', {}, []],
    ['real time: the missing hour alone is lost', '*/20 2 * * *', {}, []],
  ])('%s: %s', (...[, expression, options, times]) => {
    const schedule = cron(expression, { ...NEW_YORK, ...options })
    const slots = [...slotsBetween(schedule, ms('2026-03-08T06:29:59Z'), ms('2026-03-08T07:30:00Z'))]
    expect(slots.map((slot) => new Date(slot).toISOString().slice(11, 16))).toEqual(times)
    expect(countBetween(schedule, ms('2026-03-08T06:29:59Z'), ms('2026-03-08T07:30:00Z'))).toBe(times.length)
  })

  it('seconds go on through both passes without a hole', () => {
    const schedule = cron('*/15 * * * * *', { zone: 'Europe/Vienna', seconds: true })
    const slots = [...slotsBetween(schedule, ms('2025-10-25T23:00:00Z'), ms('2025-10-26T02:00:00Z'))]
    expect(slots).toHaveLength(3 * 240)
    expect(slots.every((slot, index) => index === 0 || slot - (slots[index - 1] as number) === 15_000)).toBe(true)
  })

  it('seconds of a fixed minute are a burst once, at the first pass; in a gap they are one slot', () => {
    const schedule = cron('*/20 30 1,2 * * *', { ...NEW_YORK, seconds: true })
    const times = (from: string, until: string) =>
      [...slotsBetween(schedule, ms(from), ms(until))].map((slot) => new Date(slot).toISOString().slice(11, 19))
    expect(times('2026-11-01T05:00:00Z', '2026-11-01T07:00:00Z')).toEqual(['05:30:00', '05:30:20', '05:30:40'])
    expect(times('2026-03-08T06:45:00Z', '2026-03-08T08:00:00Z')).toEqual(['07:00:00'])
  })
})

describe('countBetween', () => {
  it('counts a century of a busy schedule without walking it', () => {
    const from = ms('2000-01-01T00:00:00Z')
    const until = ms('2100-01-01T00:00:00Z')
    const before = process.cpuUsage()
    expect(countBetween(cron('* * * * *'), from, until)).toBe((until - from) / 60_000)
    expect(countBetween(cron('* * * * * *', { seconds: true, ...NEW_YORK }), from, until)).toBe((until - from) / 1000)
    expect(process.cpuUsage(before).user).toBeLessThan(2_000_000)
  })

  it('is 0 where there is nothing between', () => {
    expect(countBetween(cron('0 0 1 1 *'), 5, 5)).toBe(0)
    expect(countBetween(cron('* * * * *'), 60_000, 0)).toBe(0)
    expect(countBetween(every('1h'), 1, 3_599_999)).toBe(0)
    expect(countBetween(every('1h'), 0, 3_600_000)).toBe(1)
  })
})

describe('slotsBetween', () => {
  it('is lazy', () => {
    const slots = slotsBetween(cron('* * * * *'), 0, Number.POSITIVE_INFINITY)
    expect(slots.next().value).toBe(60_000)
    expect(slots.next().value).toBe(120_000)
  })
})

describe('periodMs', () => {
  it('is the length of the interval between neighbouring slots, long and short days included', () => {
    const daily = cron('0 12 * * *', NEW_YORK)
    expect(periodMs(daily, ms('2026-03-07T20:00:00Z'))).toBe(23 * 3_600_000)
    expect(periodMs(daily, ms('2026-10-31T20:00:00Z'))).toBe(25 * 3_600_000)
    expect(periodMs(every('15m'), 1)).toBe(900_000)
    expect(periodMs(cron('0 9 * * 1-5'), ms('2026-06-06T00:00:00Z'))).toBe(3 * 86_400_000)
    expect(periodMs(daily, ms('9999-12-31T00:00:00Z'))).toBe(Number.POSITIVE_INFINITY)
  })
})
