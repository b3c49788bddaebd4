import { describe, expect, it } from 'vitest'
import { cron, every } from './schedule.ts'
import { spreadOffsetMs } from './spread.ts'

describe('spread', () => {
  it('is nothing unless asked for', () => {
    expect(spreadOffsetMs('invoice-run', cron('0 2 * * *'))).toBe(0)
    expect(spreadOffsetMs('invoice-run', cron('0 2 * * *', { spread: '1s' }))).toBe(0)
  })

  it('gives a job the same place for ever', () => {
    // Another value here would start every spread job of every user at another time.
    expect(spreadOffsetMs('invoice-run', cron('0 2 * * *', { spread: '10m' }))).toBe(65_000)
    expect(spreadOffsetMs('invoice-run', every('10m', { spread: '10m' }))).toBe(65_000)
  })

  it('parts 200 jobs over the window, in whole seconds below it', () => {
    const schedule = cron('0 2 * * *', { spread: '10m' })
    const offsets = Array.from({ length: 200 }, (_, index) => spreadOffsetMs(`report-${index}`, schedule))
    expect(offsets.every((offset) => offset % 1000 === 0 && offset >= 0 && offset < 600_000)).toBe(true)
    const perMinute = Array.from(
      { length: 10 },
      (_, minute) => offsets.filter((offset) => Math.floor(offset / 60_000) === minute).length,
    )
    expect(Math.min(...perMinute)).toBeGreaterThan(8)
    expect(Math.max(...perMinute)).toBeLessThan(36)
  })
})
