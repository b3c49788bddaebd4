import { readFileSync } from 'node:fs'
import { countBetween, cron, lastSlot, type MissingTime, type RepeatedTime, slotsBetween } from '@cronce/core'
import { describe, expect, it } from 'vitest'

interface OddZone {
  readonly expression: string
  readonly zone: string
  readonly after: string
  readonly until: string
  readonly slots: readonly string[]
  readonly otherwise: Readonly<Record<string, readonly string[]>>
}

const rows = JSON.parse(readFileSync(new URL('../data/odd-zones.json', import.meta.url), 'utf8')) as readonly OddZone[]

const POLICIES = (['at-gap-end', 'skip', 'shift'] as const).flatMap((missingTime) =>
  (['first', 'second', 'both'] as const).map((repeatedTime): [MissingTime, RepeatedTime] => [
    missingTime,
    repeatedTime,
  ]),
)

describe('zones whose clocks change in odd ways', () => {
  it.each(rows)('$expression in $zone after $after', ({ expression, zone, after, until, slots, otherwise }) => {
    for (const [missingTime, repeatedTime] of POLICIES) {
      const schedule = cron(expression, { zone, missingTime, repeatedTime })
      const expected = otherwise[`${missingTime} ${repeatedTime}`] ?? slots
      const found = [...slotsBetween(schedule, Date.parse(after), Date.parse(until))]
      expect(
        found.map((slot) => new Date(slot).toISOString()),
        `${missingTime} ${repeatedTime}`,
      ).toEqual(expected)
      expect(countBetween(schedule, Date.parse(after), Date.parse(until))).toBe(expected.length)
      expect(lastSlot(schedule, Date.parse(until))).toBe(found.at(-1))
    }
  })
})
