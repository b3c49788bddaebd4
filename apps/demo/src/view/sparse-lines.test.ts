import { describe, expect, it } from 'vitest'
import type { Facts } from './frame.ts'
import { createSparseLines } from './sparse-lines.ts'

const facts = (upMs: number, done: number, state = 'running'): Facts => ({
  redisUrl: '',
  upMs,
  replicas: [],
  workers: [],
  ends: [],
  jobs: [],
  report: { slot: 'r@1', state, planned: 100, done, dead: 0, expected: 100 },
  overdue: ['settlement: nobody serves it'],
  attempts: { attempts: 10, wins: 2 },
  lateness: { p50: 1, p99: 2 },
  deadLetters: 0,
  effects: { accepted: 0, repeat: 0, refused: 0 },
})

describe('the sparse lines', () => {
  it('say each tenth of the report once, its end, and every ten seconds a sum', () => {
    const say = createSparseLines()
    expect(say(facts(0, 0))).toHaveLength(1)
    expect(say(facts(500, 9))).toEqual([])
    expect(say(facts(1_000, 10))).toEqual(['r@1  10 done, 0 dead of 100 planned  running'])
    expect(say(facts(10_000, 11))).toEqual([
      '2 slots in 10 attempts, lateness p99 2 ms, 0 dead letters',
      'overdue: settlement: nobody serves it',
    ])
    expect(say(facts(10_500, 11))).toEqual([])
    expect(say(facts(11_000, 11, 'partial'))).toEqual(['r@1  11 done, 0 dead of 100 planned  partial'])
  })
})
