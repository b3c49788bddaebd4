import { describe, expect, it } from 'vitest'
import type { CronPlan } from './cron-plan.ts'
import { readCron } from './cron-reading.ts'
import type { TimeTable } from './time-table.ts'

function planOf(expression: string, fieldCount: 5 | 6 = 5): CronPlan {
  const { plan, faults } = readCron(expression, fieldCount)
  if (plan === undefined) throw faults[0]
  return plan
}

function valuesOf(table: TimeTable): readonly number[] {
  return Array.from({ length: table.next.length - 1 }, (_, value) => value).filter(
    (value) => table.next[value] === value,
  )
}

/** Days of a month on which an expression matches. */
function daysOf(expression: string, month: string): readonly number[] {
  const { days } = planOf(expression)
  const first = Date.parse(`${month}-01T00:00:00Z`) / 86_400_000
  const length = new Date(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)), 0)).getUTCDate()
  return Array.from({ length }, (_, day) => day + 1).filter((day) => days.matches(first + day - 1))
}

function from(start: number, end: number, step = 1): readonly number[] {
  return Array.from({ length: Math.floor((end - start) / step) + 1 }, (_, index) => start + index * step)
}

describe('minutes, hours and seconds', () => {
  it.each([
    ['*', from(0, 59)],
    ['7', [7]],
    ['07', [7]],
    ['0,30', [0, 30]],
    ['30,0,30', [0, 30]],
    ['10-15', from(10, 15)],
    ['10-20/5', [10, 15, 20]],
    ['*/25', [0, 25, 50]],
    ['*/60', [0]],
    ['7/20', [7, 27, 47]],
    ['0/10', from(0, 50, 10)],
    ['2-59/5', from(2, 57, 5)],
    ['1-5,3', from(1, 5)],
    ['*,5', from(0, 59)],
    ['*/30,15', [0, 15, 30]],
    ['55-5', [0, 1, 2, 3, 4, 5, 55, 56, 57, 58, 59]],
    ['50-10/5', [0, 5, 10, 50, 55]],
    ['57-10/5', [2, 7, 57]],
    ['5-5', [5]],
  ])('minute %s', (field, expected) => {
    expect(valuesOf(planOf(`${field} * * * *`).minutes)).toEqual(expected)
    expect(valuesOf(planOf(`${field} * * * * *`, 6).seconds)).toEqual(expected)
  })

  it.each([
    ['22-2', [0, 1, 2, 22, 23]],
    ['22-4/2', [0, 2, 4, 22]],
    ['23-1/2', [1, 23]],
    ['*/7', [0, 7, 14, 21]],
    ['9/4', [9, 13, 17, 21]],
    ['0-23', from(0, 23)],
  ])('hour %s', (field, expected) => {
    expect(valuesOf(planOf(`0 ${field} * * *`).hours)).toEqual(expected)
  })

  it('five fields run at second 0', () => {
    expect(valuesOf(planOf('* * * * *').seconds)).toEqual([0])
  })
})

describe('days', () => {
  it.each([
    ['0 0 L * *', '2028-02', [29]],
    ['0 0 L * *', '2027-02', [28]],
    ['0 0 15,L * *', '2026-04', [15, 30]],
    ['0 0 30,L * *', '2026-04', [30]],
    ['0 0 31 * *', '2026-04', []],
    ['0 0 28-3 * *', '2026-04', [1, 2, 3, 28, 29, 30]],
    ['0 0 10/7 * *', '2026-04', [10, 17, 24]],
    ['0 0 * * 7', '2026-06', [7, 14, 21, 28]],
    ['0 0 * * 0', '2026-06', [7, 14, 21, 28]],
    ['0 0 * * SUN', '2026-06', [7, 14, 21, 28]],
    ['0 0 * * 0,7', '2026-06', [7, 14, 21, 28]],
    ['0 0 * * SAT-SUN', '2026-06', [6, 7, 13, 14, 20, 21, 27, 28]],
    ['0 0 * * 6-7', '2026-06', [6, 7, 13, 14, 20, 21, 27, 28]],
    ['0 0 * * 6-0', '2026-06', [6, 7, 13, 14, 20, 21, 27, 28]],
    ['0 0 * * 5-7', '2026-06', [5, 6, 7, 12, 13, 14, 19, 20, 21, 26, 27, 28]],
    ['0 0 * * fri-Mon/3', '2026-06', [1, 5, 8, 12, 15, 19, 22, 26, 29]],
    ['0 0 * * 7-2', '2026-06', [1, 2, 7, 8, 9, 14, 15, 16, 21, 22, 23, 28, 29, 30]],
    ['0 0 * * Mon-SUN', '2026-06', from(1, 30)],
    ['0 0 * * 0-7', '2026-06', from(1, 30)],
    ['0 0 * * */2', '2026-01', [1, 3, 4, 6, 8, 10, 11, 13, 15, 17, 18, 20, 22, 24, 25, 27, 29, 31]],
    ['0 0 * * */6', '2026-06', [6, 7, 13, 14, 20, 21, 27, 28]],
    ['0 0 * * 1/2', '2026-06', [1, 3, 5, 7, 8, 10, 12, 14, 15, 17, 19, 21, 22, 24, 26, 28, 29]],
    ['0 0 * * 1-6/2', '2026-06', [1, 3, 5, 8, 10, 12, 15, 17, 19, 22, 24, 26, 29]],
    ['0 0 * * 1#1', '2026-06', [1]],
    ['0 0 * * MON#5', '2026-06', [29]],
    ['0 0 * * 1#5', '2026-07', []],
    ['0 0 * * 7#2', '2026-06', [14]],
    ['0 0 * * 2#2,TUE#4', '2026-06', [9, 23]],
    ['0 0 * * 5L', '2026-06', [26]],
    ['0 0 * * friL', '2026-07', [31]],
    ['0 0 * * 7L', '2026-06', [28]],
    ['0 0 * * 3,5L', '2026-06', [3, 10, 17, 24, 26]],
    ['0 0 * 6 *', '2026-07', []],
    ['0 0 1 jun *', '2026-06', [1]],
    ['0 0 1 NOV-Feb *', '2026-01', [1]],
    ['0 0 1 NOV-Feb *', '2026-03', []],
    ['0 0 1 11-2/2 *', '2026-12', []],
    ['0 0 1 11-2/2 *', '2026-01', [1]],
    ['0 0 1 2/3 *', '2026-11', [1]],
  ])('%s in %s', (expression, month, expected) => {
    expect(daysOf(expression, month)).toEqual(expected)
  })

  it.each([
    ['both restricted: either', '0 0 1 * 1', [1, 8, 15, 22, 29]],
    ['both restricted: either', '0 0 L * 1#1', [1, 30]],
    ['a range over all weekdays is restricted', '0 0 15 * 0-6', from(1, 30)],
    ['a star in one: the other alone', '0 0 15 * *', [15]],
    ['a stepped star counts as a star: both', '0 0 */2 * 1', [1, 15, 29]],
    ['a stepped star counts as a star: both', '0 0 8 * */2', []],
    ['a list that starts with a star counts as a star: both', '0 0 *,1 * 1', [1, 8, 15, 22, 29]],
  ])('%s (%s)', (_rule, expression, expected) => {
    expect(daysOf(expression, '2026-06')).toEqual(expected)
  })

  it('agrees with the calendar of Date over four centuries', () => {
    const { days } = planOf('0 0 13 * FRI')
    const both = planOf('0 0 */31 * FRI')
    let firsts = 0
    for (let day = -140_000, at = day * 86_400_000; day < 6_100; day += 1, at += 86_400_000) {
      const date = new Date(at)
      const expected = date.getUTCDate() === 13 || date.getUTCDay() === 5
      if (days.matches(day) !== expected) expect(days.matches(day), date.toISOString()).toBe(expected)
      if (both.days.matches(day)) firsts += 1
    }
    expect(days.count(-140_000, 6_100)).toBe(
      Array.from({ length: 146_100 }, (_, index) => days.matches(index - 140_000)).filter(Boolean).length,
    )
    expect(both.days.count(-140_000, 6_100)).toBe(firsts)
  })
})

describe('interval-like', () => {
  it.each(['* * * * *', '*/5 * * * *', '*/5 2 * * *', '0 * * * *', '0 */2 * * *', '30 *,5 * * *', '@hourly'])(
    '%s',
    (expression) => {
      expect(planOf(expression).isIntervalLike).toBe(true)
    },
  )

  it.each(['0 2 * * *', '0/5 2 * * *', '0-59 0-23 * * *', '2-59/5 0/2 * * *', '@daily'])('%s is not', (expression) => {
    expect(planOf(expression).isIntervalLike).toBe(false)
  })

  it('seconds that start with a star do not make it so: 02:30 stays a fixed time', () => {
    expect(planOf('* 30 2 * * *', 6).isIntervalLike).toBe(false)
    expect(planOf('* * 2 * * *', 6).isIntervalLike).toBe(true)
  })
})
