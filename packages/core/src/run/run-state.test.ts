import { describe, expect, it } from 'vitest'
import { isEnded, isRecorded, RUN_STATES, type RunState, TRANSITIONS } from './run-state.ts'

const STATES = Object.keys(RUN_STATES) as RunState[]

function reachable(from: RunState): ReadonlySet<RunState> {
  const seen = new Set<RunState>([from])
  for (const state of seen) for (const next of TRANSITIONS[state]) seen.add(next)
  return seen
}

describe('the transition table', () => {
  it('has a row for every state and names no other', () => {
    expect(Object.keys(TRANSITIONS).toSorted()).toEqual(STATES.toSorted())
    for (const next of Object.values(TRANSITIONS).flat()) expect(STATES).toContain(next)
    for (const row of Object.values(TRANSITIONS)) expect(new Set(row).size).toBe(row.length)
  })

  it('has the way of a slot, and the worker that was faster than the record', () => {
    expect(TRANSITIONS.due).toContain('claimed')
    expect(TRANSITIONS.claimed).toContain('enqueued')
    expect(TRANSITIONS.enqueued).toContain('running')
    expect(TRANSITIONS.due).toContain('running')
    expect(TRANSITIONS.claimed).toContain('running')
  })

  it('never takes a run back to before its start', () => {
    for (const state of STATES) {
      if (!isEnded(state) && state !== 'running') continue
      expect(TRANSITIONS[state]).not.toContain('due')
      expect(TRANSITIONS[state]).not.toContain('claimed')
      expect(TRANSITIONS[state]).not.toContain('enqueued')
    }
  })

  it('reopens what ended by a redrive or a forced walk only', () => {
    expect(TRANSITIONS.succeeded).toEqual(['running'])
    for (const state of ['partial', 'failed', 'abandoned'] as const) expect(TRANSITIONS[state]).toEqual(['running'])
  })

  it('lets what never ran be claimed by hand, and do nothing else', () => {
    expect(TRANSITIONS.skipped).toEqual(['claimed'])
    expect(TRANSITIONS.missed).toEqual(['claimed'])
  })

  it('reaches every state from due, and a success from all that are not one', () => {
    expect([...reachable('due')].toSorted()).toEqual(STATES.toSorted())
    for (const state of STATES) expect(reachable(state)).toContain('succeeded')
  })

  it('changes no state into itself', () => {
    for (const state of STATES) expect(TRANSITIONS[state]).not.toContain(state)
  })
})

describe('a state', () => {
  it('is recorded unless it is due or claimed', () => {
    expect(STATES.filter((state) => !isRecorded(state))).toEqual(['due', 'claimed'])
  })

  it('has an outcome where a run ended', () => {
    expect(STATES.filter(isEnded)).toEqual(['succeeded', 'partial', 'failed', 'abandoned'])
  })
})
