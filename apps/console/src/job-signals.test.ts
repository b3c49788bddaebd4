import { describe, expect, it } from 'vitest'
import { JobSignals } from './job-signals.ts'

const read = (signals: Record<string, string>) => new Map(Object.entries(signals))

describe('signals of jobs', () => {
  it('tell of what is another than before, and of nothing that is read for the first time', () => {
    const signals = new JobSignals()
    expect(signals.changed(read({ a: '1', b: '1' }))).toEqual([])
    expect(signals.changed(read({ a: '2', b: '1', c: '1' }))).toEqual(['a'])
    expect(signals.changed(read({ a: '2' }))).toEqual([])
    expect(signals.changed(read({ b: '', c: '2' }))).toEqual(['b', 'c'])
  })

  it('of removed jobs are forgotten, and of the others are not', () => {
    const signals = new JobSignals()
    signals.changed(read({ kept: '1', removed: '1' }))
    signals.keepOnly(['kept', 'never-read'])
    expect(signals.changed(read({ kept: '2', removed: '2' }))).toEqual(['kept'])
  })
})
