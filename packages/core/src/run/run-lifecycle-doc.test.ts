import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { RUN_STATES, TRANSITIONS } from './run-state.ts'

const page = readFileSync(new URL('../../../../docs/run-lifecycle.md', import.meta.url), 'utf8')

function found(pattern: RegExp): readonly string[] {
  return [...page.matchAll(pattern)].map((match) => match.slice(1).join(' ')).toSorted()
}

const transitions = Object.entries(TRANSITIONS)
  .flatMap(([from, row]) => row.map((to) => `${from} ${to}`))
  .toSorted()

describe('docs/run-lifecycle.md', () => {
  it('draws the transition table, no arrow less and none more', () => {
    expect(found(/^ {2}(\S+) --> (\S+)$/gm)).toEqual(transitions)
  })

  it('explains every transition once, and no other', () => {
    expect(found(/^- `(\S+) -> (\S+)`: ./gm)).toEqual(transitions)
  })

  it('explains every state once, with its phase, and no other', () => {
    const states = Object.entries(RUN_STATES).map(([state, phase]) => `${state} ${phase}`)
    expect(found(/^- `(\S+)` \((\w+)\): ./gm)).toEqual(states.toSorted())
  })

  it('stays under 80 lines', () => {
    expect(page.split('\n').length).toBeLessThanOrEqual(80)
  })
})
