import { readFileSync } from 'node:fs'
import { countBetween, cron, every, type Schedule, slotsBetween } from '@cronce/core'
import { describe, expect, it } from 'vitest'
import { oracleChanges, oracleSlots, oracleWindow } from './oracle.ts'

interface ProductionSchedule {
  readonly service: string
  readonly name: string
  readonly cron?: string
  readonly everySeconds?: number
  readonly tz: string
  readonly unsupported?: string
}

const listed = JSON.parse(
  readFileSync(new URL('../data/production-schedules.json', import.meta.url), 'utf8'),
) as readonly ProductionSchedule[]
const supported = listed.filter(({ unsupported }) => unsupported === undefined)

function scheduleOf(row: ProductionSchedule): Schedule {
  return row.cron === undefined ? every((row.everySeconds ?? 0) * 1000) : cron(row.cron, { zone: row.tz })
}

describe('schedules that public services run', () => {
  it('have the 194,102 slots of 2026-06-01 that a minute-by-minute matcher counts', () => {
    const after = Date.parse('2026-06-01T00:00:00Z') - 1
    const until = Date.parse('2026-06-02T00:00:00Z') - 1
    const sums = { cron: 0, every: 0 }
    for (const row of supported) {
      const schedule = scheduleOf(row)
      const count = countBetween(schedule, after, until)
      expect([...slotsBetween(schedule, after, until)]).toHaveLength(count)
      sums[schedule.kind] += count
    }
    expect(supported.length).toBe(719)
    expect(sums).toEqual({ cron: 116_418, every: 77_684 })
  })

  it('equal the oracle around every transition of a year', { timeout: 120_000 }, () => {
    for (const zone of new Set(supported.map(({ tz }) => tz))) {
      const changes = oracleChanges(zone, Date.parse('2026-01-01T00:00:00Z'), Date.parse('2027-01-01T00:00:00Z'))
      for (const { atMs } of changes.length > 0 ? changes : [{ atMs: Date.parse('2026-03-29T01:00:00Z') }]) {
        const window = oracleWindow(zone, atMs, 2)
        for (const expression of new Set(
          supported.filter((row) => row.tz === zone && row.cron !== undefined).map((row) => row.cron ?? ''),
        )) {
          const found = [...slotsBetween(cron(expression, { zone }), window.askFromMs, window.askUntilMs)]
          expect(found, `${expression} ${zone}`).toEqual(
            oracleSlots(window, expression, { missingTime: 'at-gap-end', repeatedTime: 'first' }),
          )
        }
      }
    }
  })

  it('are refused where they have six fields and did not ask for them', () => {
    const six = listed.filter(({ cron: expression }) => expression?.split(' ').length === 6)
    expect(six).toHaveLength(1)
    expect(() => scheduleOf(six[0] as ProductionSchedule)).toThrowError(
      expect.objectContaining({ code: 'CRONCE_SCHEDULE_FIELDS' }),
    )
  })
})
