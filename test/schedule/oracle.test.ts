import { type CronSchedule, countBetween, cron, lastSlot, nextSlot, slotsBetween } from '@cronce/core'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PROPERTY_RUNS, PROPERTY_TIMEOUT_MS } from './config.ts'
import { cronArbitrary, expressionArbitrary, policyArbitrary } from './expressions.ts'
import { type OraclePolicy, type OracleWindow, oracleSlots, oracleWindow } from './oracle.ts'
import { ALL_ZONES, allTransitions } from './transitions.ts'

const NOW_MS = Date.parse('2026-11-29T00:00:00Z')
const DAY_MS = 86_400_000
const TEN_YEARS_AGO_MS = Date.parse('2016-11-29T00:00:00Z')

const POLICIES: readonly OraclePolicy[] = [
  { missingTime: 'at-gap-end', repeatedTime: 'first' },
  { missingTime: 'skip', repeatedTime: 'second' },
  { missingTime: 'shift', repeatedTime: 'both' },
]

/** Daily, several in one gap, midnight, interval-like and half-hourly: each a kind of which some library loses or doubles slots. */
const EXPRESSIONS = [
  '30 2 * * *',
  '15,45 1-3 * * *',
  '0 0 * * *',
  '*/15 * * * *',
  '0 */2 * * *',
  '30 1 * * 0',
  '0 0-4 * * MON-FRI',
  '*/30 23-1 * * *',
]

const transitions = allTransitions(TEN_YEARS_AGO_MS, NOW_MS)
const likenesses = [...new Map(transitions.map((transition) => [transition.likeness, transition])).values()]
const windows = new Map<string, OracleWindow>()

function windowOf({ zone, atMs, likeness }: { zone: string; atMs: number; likeness: string }): OracleWindow {
  let window = windows.get(likeness)
  if (window === undefined) {
    window = oracleWindow(zone, atMs, 2)
    windows.set(likeness, window)
  }
  return window
}

function isoList(slots: Iterable<number>): readonly string[] {
  return [...slots].map((slot) => new Date(slot).toISOString())
}

function expectAgreement(window: OracleWindow, schedule: CronSchedule): void {
  const expected = oracleSlots(window, schedule.expression, schedule)
  const { askFromMs, askUntilMs } = window
  expect(isoList(slotsBetween(schedule, askFromMs, askUntilMs)), JSON.stringify(schedule)).toEqual(isoList(expected))
  expect(countBetween(schedule, askFromMs, askUntilMs)).toBe(expected.length)
}

/** A transition, and a schedule in its zone. */
function arbitraryAround(expressions: fc.Arbitrary<string>) {
  const parts = fc.record({
    transition: fc.constantFrom(...likenesses),
    expression: expressions,
    policy: policyArbitrary,
  })
  return parts.map(({ transition, expression, policy }) => {
    const window = windowOf(transition)
    return { transition, window, schedule: cron(expression, { zone: window.zone, ...policy }) }
  })
}

describe('against an oracle that looks at every minute', () => {
  it('finds the transitions of ten years to look around', () => {
    expect(transitions.length).toBeGreaterThan(2_000)
    expect(new Set(transitions.map(({ zone }) => zone)).size).toBeGreaterThan(150)
  })

  it('has the same slots two days either side of every transition of ten years, in every zone', {
    timeout: PROPERTY_TIMEOUT_MS,
  }, () => {
    const answers = new Map<string, readonly number[]>()
    for (const transition of transitions) {
      const window = windowOf(transition)
      for (const expression of EXPRESSIONS) {
        for (const policy of POLICIES) {
          // Zones whose clocks do the same at that instant share what was seen.
          const key = `${transition.likeness} ${expression} ${policy.missingTime}`
          const expected = answers.get(key) ?? oracleSlots(window, expression, policy)
          answers.set(key, expected)
          const found = [
            ...slotsBetween(
              cron(expression, { zone: transition.zone, ...policy }),
              window.askFromMs,
              window.askUntilMs,
            ),
          ]
          if (found.length === expected.length && found.every((slot, index) => slot === expected[index])) continue
          expect(
            isoList(found),
            `${expression} ${transition.zone} ${policy.missingTime} ${policy.repeatedTime}`,
          ).toEqual(isoList(expected))
        }
      }
    }
  })

  it('has the same slots and counts for any expression and policy around any transition', {
    timeout: PROPERTY_TIMEOUT_MS,
  }, () => {
    fc.assert(
      fc.property(arbitraryAround(expressionArbitrary), ({ window, schedule }) => expectAgreement(window, schedule)),
      { numRuns: PROPERTY_RUNS },
    )
  })

  // Days of UTC are a natural unit to cut time into, and a cut within the hours that are missing or repeated is a natural fault.
  it.each([
    ['Europe/Riga', '1996-09-29T00:00:00Z'],
    ['Africa/Windhoek', '2004-04-04T00:00:00Z'],
    ['Asia/Baku', '2012-03-25T00:00:00Z'],
    ['Antarctica/Troll', '2012-03-25T01:00:00Z'],
    ['Europe/Chisinau', '2018-10-28T00:00:00Z'],
    ['Antarctica/Troll', '2018-10-28T01:00:00Z'],
    ['Asia/Jerusalem', '2019-03-29T00:00:00Z'],
  ])('has the same slots in %s, whose clocks change beside midnight UTC, at %s', (zone, at) => {
    const window = oracleWindow(zone, Date.parse(at), 1)
    for (const expression of [...EXPRESSIONS, '15,45 * * * *', '30 3-4 * * *']) {
      for (const missingTime of ['at-gap-end', 'skip', 'shift'] as const) {
        for (const repeatedTime of ['first', 'second', 'both'] as const) {
          expectAgreement(window, cron(expression, { zone, missingTime, repeatedTime }))
        }
      }
    }
  })

  it('has the same slots to the second', { timeout: PROPERTY_TIMEOUT_MS }, () => {
    const seconds = fc.uniqueArray(fc.integer({ min: 0, max: 59 }), { minLength: 1, maxLength: 3 })
    fc.assert(
      fc.property(
        arbitraryAround(fc.constantFrom(...EXPRESSIONS)),
        seconds,
        ({ window, schedule: ofMinutes }, list) => {
          const { expression, zone, missingTime, repeatedTime } = ofMinutes
          const schedule = cron(`${list.join(',')} ${expression}`, { zone, missingTime, repeatedTime, seconds: true })
          const expected = oracleSlots(window, expression, { missingTime, repeatedTime, secondList: list })
          expect(isoList(slotsBetween(schedule, window.askFromMs, window.askUntilMs))).toEqual(isoList(expected))
          expect(countBetween(schedule, window.askFromMs, window.askUntilMs)).toBe(expected.length)
        },
      ),
      { numRuns: Math.ceil(PROPERTY_RUNS / 10) },
    )
  })

  it('has the same slots on ordinary days', { timeout: PROPERTY_TIMEOUT_MS }, () => {
    const day = fc.integer({ min: TEN_YEARS_AGO_MS / DAY_MS, max: NOW_MS / DAY_MS })
    fc.assert(
      fc.property(cronArbitrary(ALL_ZONES), day, (schedule, date) => {
        expectAgreement(oracleWindow(schedule.zone, date * DAY_MS, 0.5), schedule)
      }),
      { numRuns: Math.ceil(PROPERTY_RUNS / 20) },
    )
  })

  it('answers next and last from any instant as the oracle does', { timeout: PROPERTY_TIMEOUT_MS }, () => {
    const move = fc.integer({ min: -DAY_MS, max: DAY_MS })
    fc.assert(
      fc.property(
        arbitraryAround(fc.constantFrom(...EXPRESSIONS)),
        move,
        ({ transition, window, schedule }, moveMs) => {
          const slots = oracleSlots(window, schedule.expression, schedule)
          const at = transition.atMs + moveMs
          const next = slots.find((slot) => slot > at)
          const last = slots.findLast((slot) => slot <= at)
          if (next !== undefined) expect(nextSlot(schedule, at)).toBe(next)
          if (last !== undefined) expect(lastSlot(schedule, at)).toBe(last)
        },
      ),
      { numRuns: PROPERTY_RUNS },
    )
  })
})
