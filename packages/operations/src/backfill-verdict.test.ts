import { RUN_STATES, type RunState } from '@cronce/core'
import { describe, expect, it } from 'vitest'
import { judgeSlot, type SlotFacts } from './backfill-verdict.ts'

const UNRECORDED: SlotFacts = {
  ...{ at: 1_000, effectiveAt: 1_000, now: 5_000, watermarkAt: 4_000, registeredAt: 0 },
  ...{ record: undefined, gap: undefined, takenBefore: false },
}
const judge = (facts: Partial<SlotFacts>) => judgeSlot({ ...UNRECORDED, ...facts })
const recorded = (state: RunState, startedAt?: number) => judge({ record: { state, startedAt } })

describe('a backfill', () => {
  it('runs what was missed or skipped, in a gap or with a record of its own', () => {
    expect(judge({ gap: 'missed' })).toBe('to-run')
    expect(judge({ gap: 'skipped' })).toBe('to-run')
    expect(recorded('missed')).toBe('to-run')
    expect(recorded('skipped')).toBe('to-run')
  })

  it('runs what is older than the job, once', () => {
    expect(judge({ registeredAt: 2_000 })).toBe('to-run')
    expect(judge({ registeredAt: 2_000, takenBefore: true })).toBe('done')
  })

  it('never runs what is done or on its way, whatever became of it', () => {
    for (const [state, phase] of Object.entries(RUN_STATES)) {
      if (phase === 'ended') expect(recorded(state as RunState, 1_500)).toBe('done')
      if (phase === 'open' || phase === 'active') expect(recorded(state as RunState, 1_500)).toBe('under-way')
    }
    // At or below the watermark, without a record, in no gap: folded.
    expect(judge({})).toBe('done')
    expect(judge({ at: 4_500, effectiveAt: 4_500 })).toBe('under-way')
  })

  it('never runs what may have had effects of which nobody knows', () => {
    expect(judge({ gap: 'abandoned' })).toMatch(/may have run/)
    expect(recorded('skipped', 1_500)).toMatch(/started and cancelled/)
  })

  it('never runs what is not due yet, by its effective instant', () => {
    expect(judge({ at: 6_000, effectiveAt: 6_000 })).toBe('not due yet')
    expect(judge({ at: 4_900, effectiveAt: 5_100 })).toBe('not due yet')
  })
})
