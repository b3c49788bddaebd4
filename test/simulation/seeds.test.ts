import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RedisServer, startRedis } from '../support/index.ts'
import { mixedScenario } from './scenarios.ts'
import { simulate } from './simulation.ts'

let redis: RedisServer

beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())

const SEEDS = Array.from({ length: 20 }, (_, index) => index + 1)

describe('nothing unrecorded, and run once, whatever dies, stops, is late, is edited or is away', () => {
  it.each(SEEDS)('seed %i', { timeout: 120_000 }, async (seed) => {
    const result = await simulate(mixedScenario({ seed }), { redisUrl: redis.url })
    expect(result.report.join('\n')).toBe('')
    const { expected, recorded, missing, double } = result.audit
    expect([recorded, missing, double]).toEqual([expected, 0, 0])
    expect(expected).toBeGreaterThan(50)
  })

  it('goes the same way twice', { timeout: 120_000 }, async () => {
    const scenario = { ...mixedScenario({ seed: 6 }), settleMs: 600_000 }
    const [once, again] = [
      await simulate(scenario, { redisUrl: redis.url }),
      await simulate(scenario, { redisUrl: redis.url }),
    ]
    expect([again.commands, again.ended, again.story]).toEqual([once.commands, once.ended, once.story])
  })
})
