import { type CronSchedule, cron } from '@cronce/core'
import * as fc from 'fast-check'

/** Expressions of every shape that occur, many of them about the hours in which clocks change. */
export const expressionArbitrary: fc.Arbitrary<string> = fc
  .oneof(
    {
      weight: 5,
      arbitrary: fc.tuple(minutes(), hours(), days(), months(), weekdays()).map((fields) => fields.join(' ')),
    },
    { weight: 3, arbitrary: fc.tuple(minutes(), hours(), fc.constant('* * *')).map((fields) => fields.join(' ')) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(minutes(), fc.constantFrom('0', '1', '2', '3', '0-3', '23', '1,2', '22-2'), fc.constant('* * *'))
        .map((fields) => fields.join(' ')),
    },
  )
  .filter(occurs)

export const policyArbitrary = fc.record({
  missingTime: fc.constantFrom('at-gap-end' as const, 'skip' as const, 'shift' as const),
  repeatedTime: fc.constantFrom('first' as const, 'second' as const, 'both' as const),
})

/** A cron schedule of any expression and policy in one of the zones. */
export function cronArbitrary(zones: readonly string[]): fc.Arbitrary<CronSchedule> {
  const parts = fc.tuple(fc.constantFrom(...zones), expressionArbitrary, policyArbitrary)
  return parts.map(([zone, expression, policy]) => cron(expression, { zone, ...policy }))
}

function occurs(expression: string): boolean {
  try {
    return cron(expression) !== undefined
  } catch {
    return false
  }
}

function minutes(): fc.Arbitrary<string> {
  return fc.oneof(
    list(0, 59),
    fc.constantFrom('*', '0', '30', '*/5', '*/7', '*/15', '*/30', '2-59/5', '0/10', '15,45', '50-10', '7/20'),
  )
}

function hours(): fc.Arbitrary<string> {
  return fc.oneof(list(0, 23), fc.constantFrom('*', '*/2', '*/6', '0', '2', '1-3', '22-2', '0-4/2', '1/3', '23-3/2'))
}

function days(): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant('*') },
    { weight: 2, arbitrary: list(1, 31) },
    fc.constantFrom('L', '1,L', '*/2', '*/3', '28-3', '10/5'),
  )
}

function months(): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 4, arbitrary: fc.constant('*') },
    list(1, 12),
    fc.constantFrom('*/2', '*/3', 'MAR-NOV', 'oct-Apr', '11-2', 'mar,APR,9,10,11', '2/3'),
  )
}

function weekdays(): fc.Arbitrary<string> {
  const names = [
    'MON-FRI',
    'SAT-SUN',
    'sun',
    '5-7',
    '6-7',
    '7',
    '*/2',
    '1/2',
    'FRI-MON',
    '7-2',
    '1#1',
    '0#5',
    '5L',
    'sunL,3',
    '2#2,2#4',
    '1-5,3',
    '0,7',
  ]
  return fc.oneof({ weight: 3, arbitrary: fc.constant('*') }, list(0, 7), fc.constantFrom(...names))
}

/** Plain values, ranges (inverted ones too) and steps, one to three of them. */
function list(least: number, most: number): fc.Arbitrary<string> {
  const value = fc.integer({ min: least, max: most })
  const range = fc.tuple(value, value).map(([from, to]) => `${from}-${to}`)
  const step = fc.integer({ min: 1, max: Math.min(most, 12) })
  const stepped = fc
    .tuple(fc.oneof(value.map(String), range), step)
    .map(([from, by]) => `${from}/${Math.min(by, most === 7 ? 7 : 12)}`)
  return fc
    .array(fc.oneof({ weight: 4, arbitrary: value.map(String) }, range, stepped), { minLength: 1, maxLength: 3 })
    .map((items) => items.join(','))
}
