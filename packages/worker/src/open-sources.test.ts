import { describe, expect, it } from 'vitest'
import { type OpenRows, OpenSources } from './open-sources.ts'

const run = { job: 'pages', id: '20260825T020000Z' as never }
const timers: (() => void)[] = []
const clock = {
  now: () => 0,
  after: (_: number, fire: () => void) => {
    timers.push(fire)
    return () => undefined
  },
}

function rows(ended: string[], name: string): OpenRows {
  const generator = (function* generate() {
    try {
      yield 1
    } finally {
      ended.push(name)
    }
  })()
  generator.next()
  return { rows: generator, taken: 3, held: undefined }
}

describe('an iterable between two steps of its plan', () => {
  it('is gone on with by the next step only, where the plan is where it was', () => {
    const ended: string[] = []
    const sources = new OpenSources(clock)
    const open = rows(ended, 'a')
    sources.keep(run, { fence: 4, cursor: 'taken:3' }, open)
    expect(sources.take({ ...run, job: 'other' }, { fence: 5, cursor: 'taken:3' })).toBeUndefined()
    expect(sources.take(run, { fence: 5, cursor: 'taken:3' })).toBe(open)
    expect(sources.take(run, { fence: 5, cursor: 'taken:3' })).toBeUndefined()
    expect(ended).toEqual([])
  })

  it('is let go where another worker was at the plan meanwhile, or the cursor is another', async () => {
    const ended: string[] = []
    const sources = new OpenSources(clock)
    sources.keep(run, { fence: 4, cursor: 'taken:3' }, rows(ended, 'fence'))
    expect(sources.take(run, { fence: 6, cursor: 'taken:3' })).toBeUndefined()
    sources.keep(run, { fence: 6, cursor: 'taken:3' }, rows(ended, 'cursor'))
    expect(sources.take(run, { fence: 7, cursor: '' })).toBeUndefined()
    expect(ended).toEqual(['fence', 'cursor'])
  })

  it('is let go after a while, beyond a number of them, and when the worker stops', async () => {
    const ended: string[] = []
    const sources = new OpenSources(clock)
    timers.length = 0
    for (let index = 0; index < 18; index++) {
      sources.keep({ ...run, job: `job-${index}` }, { fence: 1, cursor: 'taken:3' }, rows(ended, `${index}`))
    }
    expect(ended).toEqual(['0', '1'])
    timers[2]?.()
    expect(ended).toEqual(['0', '1', '2'])
    sources.closeAll()
    expect(ended).toHaveLength(18)
  })
})
