import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { seededRandom } from '../random.ts'
import { type Backoff, retryDelay } from './retry-delay.ts'

const DAY_MS = 86_400_000
const noChance = () => 0
const base120s = (capMs: number): Backoff => ({ type: 'exponential', delayMs: 120_000, capMs, jitter: 0 })

const anyBackoff = fc
  .record({
    type: fc.constantFrom('exponential' as const, 'fixed' as const),
    delayMs: fc.integer({ min: 1, max: DAY_MS }),
    more: fc.integer({ min: 0, max: 366 * DAY_MS }),
    jitter: fc.double({ min: 0, max: 1, noNaN: true }),
  })
  .map(({ type, delayMs, more, jitter }): Backoff => ({ type, delayMs, capMs: delayMs + more, jitter }))

describe('retryDelay', () => {
  it.each([
    [1, 120_000],
    [2, 240_000],
    [3, 480_000],
    [10, 61_440_000],
    [11, DAY_MS],
    [40, DAY_MS],
    [10_000, DAY_MS],
    [Number.MAX_SAFE_INTEGER, DAY_MS],
  ])('after attempt %i with a base of 120 s and a cap of a day waits %i ms', (attempt, delayMs) => {
    expect(retryDelay(base120s(DAY_MS), attempt, noChance)).toBe(delayMs)
  })

  it('doubles exactly as long as it is under the cap', () => {
    const backoff = base120s(366 * DAY_MS)
    expect(retryDelay(backoff, 11, noChance)).toBe(120_000 * 2 ** 10)
    expect(retryDelay(backoff, 40, noChance)).toBe(366 * DAY_MS)
  })

  it('waits the same every time when fixed', () => {
    const backoff: Backoff = { type: 'fixed', delayMs: 5_000, capMs: 600_000, jitter: 0 }
    expect([1, 2, 40, 10_000].map((attempt) => retryDelay(backoff, attempt, noChance))).toEqual([
      5_000, 5_000, 5_000, 5_000,
    ])
  })

  it('leaves the share named jitter to chance, and no more', () => {
    const backoff: Backoff = { type: 'exponential', delayMs: 1_000, capMs: 600_000, jitter: 0.5 }
    expect(retryDelay(backoff, 3, () => 0)).toBe(4_000)
    expect(retryDelay(backoff, 3, () => 1 - 2 ** -32)).toBe(2_000)
    const random = seededRandom(7)
    const waits = Array.from({ length: 1_000 }, () => retryDelay(backoff, 3, random))
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(2_000)
    expect(Math.max(...waits)).toBeLessThanOrEqual(4_000)
    expect(new Set(waits).size).toBeGreaterThan(500)
  })

  it('is a whole number between the chanceless share and the cap, for any policy and attempt', () => {
    fc.assert(
      fc.property(anyBackoff, fc.integer({ min: -5, max: 100_000 }), fc.integer(), (backoff, attempt, seed) => {
        const waitMs = retryDelay(backoff, attempt, seededRandom(seed))
        expect(Number.isInteger(waitMs)).toBe(true)
        expect(waitMs).toBeLessThanOrEqual(backoff.capMs)
        expect(waitMs).toBeGreaterThanOrEqual(
          Math.floor(Math.min(backoff.delayMs, backoff.capMs) * (1 - backoff.jitter)),
        )
      }),
    )
  })
})
