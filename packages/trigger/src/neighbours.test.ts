import { cron, every } from '@cronce/core'
import { describe, expect, it } from 'vitest'
import { daysOfGap, joinNeighbours } from './neighbours.ts'

const NOON = Date.parse('2026-06-01T12:00:00Z')
const MINUTE = 60_000
const at = (minute: number) => NOON + minute * MINUTE
const minutely = cron('* * * * *')
const why = { state: 'skipped', reason: 'overlap' } as const
const record = (minute: number) => ({ fromAt: at(minute) - 1, toAt: at(minute), count: 1 })
const gap = (from: number, to: number) => ({ fromAt: at(from), toAt: at(to), count: to - from })

describe('neighbours that did not run', () => {
  it('are one gap, from the first to the last', () => {
    expect(joinNeighbours(minutely, { ...why, parts: [record(1), record(2), gap(2, 7), record(8)] })).toEqual([
      { ...why, fromAt: at(1) - 1, toAt: at(8), count: 8 },
    ])
  })

  it('are one on each side of slots that are folded, which no gap covers', () => {
    const parts = [record(1), record(2), record(4), record(6), gap(6, 9)]
    expect(joinNeighbours(minutely, { ...why, parts })).toEqual([
      { ...why, fromAt: at(1) - 1, toAt: at(2), count: 2 },
      { ...why, fromAt: at(6) - 1, toAt: at(9), count: 4 },
    ])
  })

  it('stay as they are where the schedule counts otherwise', () => {
    const parts = [{ ...gap(0, 5), count: 4 }, record(6), record(7)]
    expect(joinNeighbours(minutely, { ...why, parts })).toEqual([{ ...why, fromAt: at(6) - 1, toAt: at(7), count: 2 }])
    expect(joinNeighbours(every('7m'), { ...why, parts: [record(1), record(2)] })).toEqual([])
  })
})

describe('the days of a gap', () => {
  const long = { fromAt: NOON, toAt: NOON + 48 * 60 * MINUTE, count: 2_880 }

  it('add up to it', () => {
    expect(daysOfGap(long, { schedule: minutely, firstAt: 0 }).days).toEqual([
      { day: '2026-06-01', count: 719 },
      { day: '2026-06-02', count: 1_440 },
      { day: '2026-06-03', count: 721 },
    ])
    expect(daysOfGap(long, { schedule: undefined, firstAt: 0 }).days).toEqual([{ day: '2026-06-03', count: 2_880 }])
  })

  it('begin with the oldest that is kept', () => {
    const firstAt = Date.parse('2026-06-03')
    expect(daysOfGap(long, { schedule: minutely, firstAt }).days).toEqual([{ day: '2026-06-03', count: 721 }])
  })
})
