import { every } from '@cronce/core'
import { describe, expect, it } from 'vitest'
import { compareStretch, type Stretch } from './audit-stretch.ts'

const MINUTE = 60_000
const START = Date.parse('2026-06-01T00:00:00Z')
const at = (minute: number) => START + minute * MINUTE
const span = (until: number) => [{ schedule: every('1m'), spreadMs: 0, afterAt: START, untilAt: at(until) }]
const recorded = (...minutes: number[]) => minutes.map((minute) => ({ at: at(minute), standing: 'recorded' as const }))
const gap = (from: number, to: number, count = to - from) => ({ fromAt: at(from), toAt: at(to), count })

/** Ten slots, of minute 1 to 10, all to be recorded by now. */
function stretch(of: Partial<Stretch>): Stretch {
  const whole = { afterAt: START, untilAt: at(10), owed: span(10), overdue: span(10), records: [], gaps: [], folded: 0 }
  return { ...whole, ...of }
}

const problems = (of: Partial<Stretch>) => {
  const { expected, recorded: have, missing, double, unexpected, findings } = compareStretch(stretch(of))
  return [
    expected,
    have,
    missing,
    double,
    unexpected,
    findings.map((each) => [each.problem, each.at && (each.at - START) / MINUTE, each.count]),
  ]
}

describe('an audit adds up', () => {
  it('where every slot has a record, is in a gap, or is folded', () => {
    expect(problems({ records: recorded(1, 2, 3, 8, 9, 10), gaps: [gap(3, 7)] })).toEqual([10, 10, 0, 0, 0, []])
    expect(problems({ records: recorded(9, 10), gaps: [gap(3, 7)], folded: 4 })).toEqual([10, 10, 0, 0, 0, []])
  })

  it('where what is not recorded yet may still be on its way', () => {
    const records = [...recorded(1, 2, 3, 4, 5, 6, 7), { at: at(8), standing: 'on-its-way' as const }]
    expect(problems({ records, overdue: span(8) })).toEqual([7, 7, 0, 0, 0, []])
  })

  it('where something was recorded before it had to be', () => {
    expect(problems({ records: recorded(1, 2, 3, 9), overdue: span(3) })).toEqual([4, 4, 0, 0, 0, []])
    expect(problems({ records: recorded(1, 2), gaps: [gap(2, 6)], overdue: span(3) })).toEqual([6, 6, 0, 0, 0, []])
  })

  it('over a gap that is wider than the stretch', () => {
    expect(problems({ gaps: [{ fromAt: at(-5), toAt: at(15), count: 20 }] })).toEqual([10, 10, 0, 0, 0, []])
  })
})

describe('an audit finds', () => {
  it('a slot that nothing is recorded of', () => {
    expect(problems({ records: recorded(1, 2, 4, 5), gaps: [gap(5, 9)] })).toEqual([
      10,
      8,
      2,
      0,
      0,
      [
        ['missing', 3, 1],
        ['missing', 10, 1],
      ],
    ])
  })

  it('a slot of a shifted zone beside the one that it was taken for, though the numbers are equal', () => {
    const records = [...recorded(1, 2, 3, 4, 5, 6, 7, 8, 9), { at: at(9) + 30_000, standing: 'recorded' as const }]
    expect(problems({ records })).toEqual([
      10,
      9,
      1,
      0,
      1,
      [
        ['unexpected', 9.5, 1],
        ['missing', 10, 1],
      ],
    ])
  })

  it('a slot that is due for too long', () => {
    const records = [...recorded(1, 2, 3, 4, 5, 6, 7, 8, 9), { at: at(10), standing: 'stuck' as const }]
    expect(problems({ records })).toEqual([10, 9, 1, 0, 0, [['missing', 10, 1]]])
  })

  it('a slot that has a record and is in a gap, or is in two gaps', () => {
    expect(problems({ records: recorded(1, 2, 3, 4), gaps: [gap(3, 10)] })).toEqual([
      10,
      10,
      0,
      1,
      0,
      [['double', 4, 1]],
    ])
    expect(problems({ gaps: [gap(0, 6), gap(4, 10)] })).toEqual([10, 10, 0, 2, 0, [['double', 5, 2]]])
  })

  it('a folded day that has more or fewer slots than it should', () => {
    expect(problems({ records: recorded(8, 9, 10), folded: 8 })).toEqual([10, 10, 0, 1, 0, [['double', undefined, 1]]])
    expect(problems({ records: recorded(8, 9, 10), folded: 5 })).toEqual([10, 8, 2, 0, 0, [['missing', undefined, 2]]])
  })

  it('a gap that counts other than the definitions do', () => {
    expect(problems({ gaps: [gap(0, 10, 9)] })).toEqual([10, 9, 1, 0, 0, [['missing', 10, 1]]])
    expect(problems({ gaps: [gap(0, 10, 11)] })).toEqual([10, 10, 0, 0, 1, [['unexpected', 10, 1]]])
  })

  it('many missing slots, naming some and counting all', () => {
    const afterAt = START
    const untilAt = at(1_000)
    const { missing, findings } = compareStretch(stretch({ afterAt, untilAt, owed: span(1_000), overdue: span(1_000) }))
    expect(missing).toBe(1_000)
    expect(findings).toHaveLength(20)
    expect(findings.reduce((sum, { count }) => sum + count, 0)).toBe(1_000)
  })
})
