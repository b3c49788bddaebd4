import { describe, expect, it } from 'vitest'
import { ProgressLine, progressText } from './progress-line.ts'
import type { Terminal } from './terminal.ts'
import { plain } from './text/tone.ts'

function written(progress: 'redrawn' | 'lines' | undefined, width = 80): { line: ProgressLine; text: () => string } {
  let text = ''
  const terminal: Terminal = {
    out: async () => undefined,
    err: (more) => void (text += more),
    ...{ width, paint: plain, ...(progress === undefined ? {} : { progress }) },
  }
  return { line: new ProgressLine(terminal), text: () => text }
}

const HALF = { ended: 3, total: 6, slot: 'report@20261104T010000Z', state: 'running' }

describe('progress', () => {
  it('is a bar as long as what is done', () => {
    expect(progressText(HALF)).toBe(' [#########---------]  3/6  report@20261104T010000Z running')
    expect(progressText({ ended: 0, total: 0, slot: undefined, state: 'ended' })).toBe(
      ` [${'#'.repeat(18)}]  0/0  ended`,
    )
    expect(progressText({ ...HALF, ended: 0 })).toContain(`[${'-'.repeat(18)}]`)
  })

  it('shows nothing that a terminal acts on', () => {
    expect(progressText({ ...HALF, state: 'waits: paused by \u001b[2Jann' })).not.toMatch(/\p{Cc}/u)
  })

  it('is a line for each change where nobody looks', () => {
    const { line, text } = written(undefined)
    line.show(HALF)
    line.show(HALF)
    line.show({ ...HALF, ended: 4 })
    line.end()
    expect(text().split('\n').length).toBe(3)
    expect(text()).not.toContain('\r')
    expect(text()).not.toContain('\u001b')
  })

  it('is one line, drawn anew and no wider than the terminal, where somebody looks', () => {
    const { line, text } = written('redrawn', 40)
    line.show(HALF)
    line.show({ ...HALF, ended: 4 })
    line.end()
    line.end()
    const drawn = text().split('\r').slice(1)
    expect(drawn.length).toBe(2)
    for (const each of drawn) expect(each.trimEnd().replace('\u001b[K', '').length).toBeLessThan(40)
    expect(text().match(/\n/g)?.length).toBe(1)
  })
})
