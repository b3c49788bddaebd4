import { describe, expect, it } from 'vitest'
import { createAttemptBook } from './attempt-book.ts'
import { percentile } from './percentile.ts'
import { type Evidence, judge } from './verdict.ts'

const SLOTS = ['a', 'b', 'c']

const effects = (count: number): Evidence['effects'] => ({
  entities: new Set(Array.from({ length: count }, (_, index) => String(index))),
  duplicates: 0,
  repeats: 2,
  conflicts: 0,
  refused: 0,
  mostCallsPerKey: 1,
})

const good: Evidence = {
  replicas: 2,
  kills: 1,
  window: SLOTS.map((slot, index) => ({ slot, state: 'succeeded', latenessMs: index })),
  attempts: { attempts: 6, wins: 3 },
  starts: new Map(SLOTS.map((slot) => [slot, 1])),
  report: { state: 'partial', planned: 10, done: 9, dead: 1 },
  effects: effects(9),
}

describe('judge', () => {
  it('finds nothing wrong where every source agrees', () => {
    expect(judge(good)).toEqual({
      faults: [],
      summary: {
        slots: 3,
        replicas: 2,
        attempts: 6,
        runs: 3,
        skips: 3,
        duplicateRuns: 0,
        lostSlots: 0,
        lateness: { p50: 1, p99: 2 },
        entities: 10,
        entitiesDone: 9,
        deadLetters: 1,
        duplicateEffects: 0,
        effectRepeats: 2,
        kills: 1,
      },
    })
  })

  it.each<[string, Partial<Evidence>, Partial<ReturnType<typeof judge>['summary']>]>([
    [
      'a slot without a record',
      { window: [{ slot: 'a', state: undefined, latenessMs: undefined }] },
      { lostSlots: 1, runs: 0 },
    ],
    [
      'a slot that is only claimed',
      { window: [{ slot: 'a', state: 'claimed', latenessMs: undefined }] },
      { lostSlots: 1 },
    ],
    [
      'a second start',
      {
        starts: new Map([
          ['a', 1],
          ['b', 3],
          ['c', 1],
        ]),
      },
      { duplicateRuns: 2 },
    ],
    [
      'a success that never started',
      {
        starts: new Map([
          ['a', 1],
          ['b', 0],
          ['c', 1],
        ]),
      },
      { runs: 2 },
    ],
    ['a report that did not end', { report: { ...good.report, state: 'running' } }, {}],
    ['a report without a record', { report: { state: undefined, planned: 0, done: 0, dead: 0 } }, { entities: 0 }],
    ['a sum that does not add up', { report: { ...good.report, planned: 11 } }, { entities: 11 }],
    ['an effect accepted twice', { effects: { ...effects(9), duplicates: 1 } }, { duplicateEffects: 1 }],
    ['an entity done without an effect', { effects: effects(8) }, { entitiesDone: 9 }],
    ['an effect of an entity that is not done', { effects: effects(10) }, { entitiesDone: 9 }],
    ['a key with another body', { effects: { ...effects(9), conflicts: 1 } }, {}],
  ])('sees %s', (_, change, summary) => {
    const verdict = judge({ ...good, ...change })
    expect(verdict.faults).not.toEqual([])
    expect(verdict.summary).toMatchObject(summary)
  })

  it('takes a run that a crash abandoned for run, and one that policy dropped for recorded', () => {
    const window: Evidence['window'] = [
      { slot: 'a', state: 'abandoned', latenessMs: 3 },
      { slot: 'b', state: 'skipped', latenessMs: undefined },
    ]
    const { faults, summary } = judge({
      ...good,
      window,
      starts: new Map([
        ['a', 1],
        ['b', 0],
      ]),
    })
    expect(faults).toEqual([])
    expect(summary).toMatchObject({ slots: 2, runs: 1, lostSlots: 0, duplicateRuns: 0 })
  })
})

describe('the attempt book', () => {
  it('counts each replica once per slot, whatever it says how often', () => {
    const book = createAttemptBook()
    book.note('r1', { event: 'slot.claimed', slot: 'a' })
    book.note('r2', { event: 'slot.lost', slot: 'a' })
    book.note('r2', { event: 'slot.lost', slot: 'a' })
    book.note('r2', { event: 'slot.claimed', slot: 'b' })
    expect(book.count(['a'])).toEqual({ attempts: 2, wins: 1 })
    expect(book.count(['a', 'never'])).toEqual({ attempts: 2, wins: 1 })
    expect(book.total()).toEqual({ attempts: 3, wins: 2 })
    expect(book.claimedBy('a')).toBe('r1')
    expect([...book.triedBy('a')]).toEqual(['r1', 'r2'])
  })

  it('keeps a slot that was taken again after its lease as two wins', () => {
    const book = createAttemptBook()
    book.note('r1', { event: 'slot.claimed', slot: 'a' })
    book.note('r2', { event: 'slot.lost', slot: 'a' })
    book.note('r2', { event: 'slot.claimed', slot: 'a' })
    expect(book.count(['a'])).toEqual({ attempts: 2, wins: 2 })
    expect(book.claimedBy('a')).toBe('r2')
  })
})

describe('percentile', () => {
  it('is one of the values, by nearest rank', () => {
    const values = [5, 1, 4, 2, 3]
    expect([percentile(values, 50), percentile(values, 99), percentile(values, 0), percentile([], 50)]).toEqual([
      3,
      5,
      1,
      undefined,
    ])
  })
})
