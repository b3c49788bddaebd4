import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RedisServer, startRedis } from '../support/index.ts'
import { mixedScenario } from './scenarios.ts'
import { simulate } from './simulation.ts'

let redis: RedisServer

beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())

/** A script that is broken on purpose: the simulation must find it, or it would find nothing. */
interface Mutant {
  readonly does: string
  /** What is taken out of every script that has it. */
  readonly without: string
}

const MUTANTS: readonly Mutant[] = [
  {
    does: 'a claim that lets the watermark pass slots nobody has recorded',
    without: 'if not state and not in_gap(base, slot.at) then break end',
  },
  {
    does: 'a claim that lets the watermark pass a slot whose replica died holding it',
    without: 'if open and open <= target then target = open - 1 end',
  },
  {
    does: 'a start that runs what has ended',
    without: "if PHASES[state] == 'ended' or PHASES[state] == 'dropped' then return { 'ended', now } end",
  },
]

const MOST_SEEDS = 8

describe('a broken script is found', () => {
  it.each(MUTANTS)('$does', { timeout: 240_000 }, async ({ without }) => {
    let changed = 0
    const mutate = (_name: string, lua: string) => {
      if (!lua.includes(without)) return lua
      changed += 1
      return lua.replaceAll(without, '')
    }
    const found: string[] = []
    for (let seed = 1; seed <= MOST_SEEDS && found.length === 0; seed++) {
      const { breaches } = await simulate(mixedScenario({ seed }), { redisUrl: redis.url, mutate })
      found.push(...breaches.map(({ rule }) => rule))
    }
    expect(changed).toBeGreaterThan(0)
    expect(found).not.toEqual([])
  })
})
