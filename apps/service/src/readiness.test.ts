import { describe, expect, it } from 'vitest'
import { readinessOf } from './readiness.ts'

const NOW = 1_000_000
const well = { state: 'running', lastReachedAt: NOW - 900, failures: 0 } as const
const read = (change: Partial<Parameters<typeof readinessOf>[0]['health']>) =>
  readinessOf({ health: { ...well, ...change }, now: NOW, stalledAfterMs: 25_000 })

describe('a replica', () => {
  it('is ready while its trigger reaches the store', () => {
    expect(read({})).toEqual({ status: 'ready' })
  })

  it.each([
    [{ state: 'preparing' }, 'the trigger is preparing'],
    [{ state: 'stopping' }, 'the trigger is stopping'],
    [{ lastReachedAt: undefined }, 'the trigger has not ticked yet'],
    [{ failures: 3 }, 'Redis is out of reach, 3 tries'],
    [{ lastReachedAt: NOW - 26_000 }, 'the trigger has stalled, last tick 26000 ms ago'],
  ] as const)('is not ready with %j', (change, reason) => {
    expect(read(change)).toEqual({ status: 'not-ready', reason })
  })
})
