import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RedisServer, startRedis } from '../support/index.ts'
import { mixedScenario } from './scenarios.ts'
import { simulate } from './simulation.ts'

/** Mixed seeds as tests, in two files, so that two processors hold them at once. */
export function holdSeeds(seeds: readonly number[]): { readonly redis: () => RedisServer } {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())
  describe('nothing unrecorded, and run once, whatever dies, stops, is late, is edited or is away', () => {
    it.each(seeds)('seed %i', { timeout: 120_000 }, async (seed) => {
      const result = await simulate(mixedScenario({ seed }), { redisUrl: redis.url })
      expect(result.report.join('\n')).toBe('')
      const { expected, recorded, missing, double } = result.audit
      expect([recorded, missing, double]).toEqual([expected, 0, 0])
      expect(expected).toBeGreaterThan(50)
    })
  })
  return { redis: () => redis }
}
