import type { Clock } from '@cronce/core'
import { describe, expect, it } from 'vitest'
import { Pace } from './pace.ts'

function paceOf(intervalMs: number) {
  let now = 1_000_000
  const clock: Clock = { now: () => now, after: () => () => undefined }
  return { pace: new Pace({ intervalMs, clock }), move: (byMs: number) => void (now += byMs) }
}

describe('a pace', () => {
  it('lets the first start at once, and each next one an interval after it', () => {
    const { pace, move } = paceOf(600)
    expect(pace.restMs).toBe(0)
    pace.took()
    expect(pace.restMs).toBe(600)
    move(599)
    expect(pace.restMs).toBe(1)
    move(1)
    expect(pace.restMs).toBe(0)
  })

  it('makes the next wait for each of those that started together', () => {
    const { pace, move } = paceOf(10)
    expect(pace.together).toBe(100)
    pace.took(70)
    move(300)
    expect(pace.restMs).toBe(400)
  })

  it('lets one start alone where the interval is longer than a second, and any number where there is none', () => {
    expect(paceOf(30_000).pace.together).toBe(1)
    const { pace } = paceOf(0)
    pace.took(1_000_000)
    expect([pace.together, pace.restMs]).toEqual([Number.POSITIVE_INFINITY, 0])
  })

  it('waits no longer than the interval when the clock is put back', () => {
    const { pace, move } = paceOf(600)
    pace.took()
    move(-3_600_000)
    expect(pace.restMs).toBe(600)
  })
})
