import { describe, expect, it } from 'vitest'
import { type EffectLine, readEffectLines } from './effect-line.ts'
import { countStarts, tallyEffects } from './effect-tally.ts'

const SLOT = 'report@20261129T020000Z'
const line = (kind: EffectLine['kind'], entity: string, more: Partial<EffectLine> = {}): EffectLine => ({
  kind,
  at: 0,
  slot: SLOT,
  entity,
  key: `${SLOT}/${entity}`,
  bodyHash: 'a',
  status: 201,
  ...more,
})

describe('tallyEffects', () => {
  it('counts entities, repeats, refusals and conflicts of one run alone', () => {
    const lines = [
      line('refused', 'a'),
      line('accepted', 'a'),
      line('repeat', 'a'),
      line('accepted', 'b'),
      line('conflict', 'b'),
      line('accepted', 'b', { slot: 'report@20261130T020000Z' }),
      line('start', ''),
    ]
    expect(tallyEffects(lines, SLOT)).toEqual({
      entities: new Set(['a', 'b']),
      duplicates: 0,
      repeats: 1,
      conflicts: 1,
      refused: 1,
      mostCallsPerKey: 3,
    })
  })

  it('sees an effect that was accepted twice under one key', () => {
    expect(tallyEffects([line('accepted', 'a'), line('accepted', 'a')], SLOT).duplicates).toBe(1)
  })

  it('sees an effect that was accepted twice under two keys', () => {
    const lines = [line('accepted', 'a', { key: 'attempt-1' }), line('accepted', 'a', { key: 'attempt-2' })]
    expect(tallyEffects(lines, SLOT).duplicates).toBe(1)
  })

  it('sees one key that was accepted for two entities', () => {
    expect(
      tallyEffects([line('accepted', 'a', { key: 'k' }), line('accepted', 'b', { key: 'k' })], SLOT).duplicates,
    ).toBe(1)
  })
})

describe('countStarts', () => {
  it('counts every start of the slots asked for, and none of others', () => {
    const lines = [line('start', ''), line('start', ''), line('start', '', { slot: 'other' }), line('accepted', 'a')]
    expect([...countStarts(lines, [SLOT, 'never'])]).toEqual([
      [SLOT, 2],
      ['never', 0],
    ])
  })
})

describe('readEffectLines', () => {
  it('reads whole lines and leaves out one that was cut', () => {
    const whole = JSON.stringify(line('accepted', 'a'))
    expect(readEffectLines(`${whole}\n${whole.slice(0, 20)}`)).toEqual([line('accepted', 'a')])
    expect(readEffectLines('')).toEqual([])
  })
})
