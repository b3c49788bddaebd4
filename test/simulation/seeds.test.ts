import { expect, it } from 'vitest'
import { holdSeeds } from './hold-seeds.ts'
import { mixedScenario } from './scenarios.ts'
import { simulate } from './simulation.ts'

const { redis } = holdSeeds([1, 2, 3, 4, 5, 6, 7, 8, 9])

it('a seed goes the same way twice', { timeout: 120_000 }, async () => {
  const scenario = { ...mixedScenario({ seed: 6 }), settleMs: 600_000 }
  const redisUrl = redis().url
  const [once, again] = [await simulate(scenario, { redisUrl }), await simulate(scenario, { redisUrl })]
  expect([again.commands, again.ended, again.story]).toEqual([once.commands, once.ended, once.story])
})
