import { countBetween, cron, every, lastSlot, nextSlot, periodMs, type Schedule, slotsBetween } from '@cronce/core'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PROPERTY_RUNS, PROPERTY_TIMEOUT_MS } from './config.ts'
import { cronArbitrary } from './expressions.ts'
import { ALL_ZONES, allTransitions } from './transitions.ts'

const DAY_MS = 86_400_000
const FROM_MS = Date.parse('2024-11-29T00:00:00Z')
const UNTIL_MS = Date.parse('2026-11-29T00:00:00Z')

/** Names that are links in the tz database, or zones of their own that the list of Intl leaves out. */
const MORE_ZONES = [
  'UTC',
  'GMT',
  'Etc/GMT+12',
  'Etc/GMT-14',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'US/Eastern',
  'Europe/Kyiv',
  'America/Argentina/Buenos_Aires',
]

const transitions = allTransitions(FROM_MS, UNTIL_MS)
const changesOf = new Map(ALL_ZONES.map((zone) => [zone, transitions.filter((transition) => transition.zone === zone)]))

/** One forward chain, and every question about instants around it answered from that chain. */
function expectOneChain(
  schedule: Schedule,
  [fromMs, untilMs]: readonly [number, number],
  asked: readonly number[],
): void {
  const chain = [...slotsBetween(schedule, fromMs, untilMs)]
  const isRising = chain.every(
    (slot, index) => Math.abs(slot % 1000) === 0 && (index === 0 || slot > (chain[index - 1] as number)),
  )
  expect(isRising, 'whole seconds, each later than the one before').toBe(true)
  expectSame(countBetween(schedule, fromMs, untilMs), chain.length, 'count of all')
  const bounded = chain.length > 40 ? [...chain.slice(0, 20), ...chain.slice(-20)] : chain
  for (const at of [...asked, ...bounded.flatMap((slot) => [slot - 1, slot, slot + 1])]) {
    if (at <= fromMs || at >= untilMs) continue
    const following = chain.findIndex((slot) => slot > at)
    const below = following < 0 ? chain.length : following
    const next = chain[below]
    const last = chain[below - 1]
    if (next !== undefined) expectSame(nextSlot(schedule, at), next, `next after ${at}`)
    if (last !== undefined) expectSame(lastSlot(schedule, at), last, `last at ${at}`)
    if (next !== undefined && last !== undefined) expectSame(periodMs(schedule, at), next - last, `period at ${at}`)
    expectSame(countBetween(schedule, fromMs, at), below, `count up to ${at}`)
    expectSame(countBetween(schedule, at, untilMs), chain.length - below, `count from ${at}`)
  }
}

/** An assertion costs more than what it asserts; millions of equal answers need none. */
function expectSame(found: number | undefined, expected: number, what: string): void {
  if (found !== expected) expect(found, what).toBe(expected)
}

describe('one chain', () => {
  it('holds in every zone of the tz database, around its changes and on an ordinary day', {
    timeout: PROPERTY_TIMEOUT_MS,
  }, () => {
    for (const zone of [...ALL_ZONES, ...MORE_ZONES]) {
      const around = [Date.parse('2026-05-13T09:31:07.123Z'), ...(changesOf.get(zone) ?? []).map(({ atMs }) => atMs)]
      for (const [index, at] of around.entries()) {
        for (const expression of ['30 2 * * *', '0 0 * * *', '*/20 * * * *', '15,45 0-3 * * *']) {
          const missingTime = (['at-gap-end', 'skip', 'shift'] as const)[index % 3] as 'skip'
          const repeatedTime = (['both', 'first', 'second'] as const)[index % 3] as 'both'
          expectOneChain(
            cron(expression, { zone, missingTime, repeatedTime }),
            [at - 2 * DAY_MS, at + 2 * DAY_MS],
            [at, at - 1, at + 1_799_999, at - 1_800_001],
          )
        }
      }
    }
  })

  it('holds for any expression, zone, policy and instant, asked in any order', { timeout: PROPERTY_TIMEOUT_MS }, () => {
    const instant = fc.integer({ min: FROM_MS, max: UNTIL_MS })
    const moves = fc.array(fc.integer({ min: -3 * DAY_MS, max: 3 * DAY_MS }), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(cronArbitrary(ALL_ZONES), instant, moves, (schedule, seed, offsets) => {
        const changes = changesOf.get(schedule.zone) ?? []
        const at = changes[seed % changes.length]?.atMs ?? seed
        expectOneChain(
          schedule,
          [at - 3 * DAY_MS, at + 3 * DAY_MS],
          offsets.map((offset) => at + offset),
        )
      }),
      { numRuns: PROPERTY_RUNS },
    )
  })

  it('steps over years as it steps over days', { timeout: PROPERTY_TIMEOUT_MS }, () => {
    const instant = fc.integer({ min: Date.parse('1950-01-01'), max: Date.parse('2090-01-01') })
    fc.assert(
      fc.property(cronArbitrary(ALL_ZONES), instant, (schedule, at) => {
        const next = nextSlot(schedule, at) as number
        expect(next).toBeGreaterThan(at)
        expect(lastSlot(schedule, next)).toBe(next)
        expect(lastSlot(schedule, next - 1)).toBe(lastSlot(schedule, at))
        const last = lastSlot(schedule, at) as number
        expect(last).toBeLessThanOrEqual(at)
        expect(nextSlot(schedule, last)).toBe(next)
        expect(countBetween(schedule, last, next)).toBe(1)
        expect(countBetween(schedule, at, next - 1)).toBe(0)
      }),
      { numRuns: Math.ceil(PROPERTY_RUNS / 10) },
    )
  })

  it('holds for intervals', () => {
    const seconds = fc.integer({ min: 1, max: 1_000_000 })
    fc.assert(
      fc.property(seconds, fc.nat(), fc.integer({ min: -1e12, max: 4e12 }), (period, offset, at) => {
        const schedule = every(period * 1000, { offset: (offset % period) * 1000 })
        expectOneChain(schedule, [at - 40_000 * period, at + 40_000 * period], [at, at + 1, at - 1])
        expect(Math.abs(((lastSlot(schedule, at) as number) - schedule.offsetMs) % schedule.periodMs)).toBe(0)
      }),
      { numRuns: 500 },
    )
  })

  it('does not depend on what was asked before, the clock moved back included', () => {
    const schedule = cron('30 1 * * *', { zone: 'America/New_York' })
    const change = Date.parse('2026-11-01T06:00:00Z')
    const instants = Array.from({ length: 400 }, (_, index) => change + (index - 200) * 600_000)
    const forward = instants.map((at) => [nextSlot(schedule, at), lastSlot(schedule, at)])
    const backward = instants
      .toReversed()
      .map((at) => [nextSlot({ ...schedule }, at), lastSlot({ ...schedule }, at)])
      .toReversed()
    expect(backward).toEqual(forward)
    expect(new Set(forward.map(([, last]) => last)).size).toBe(4)
  })
})
