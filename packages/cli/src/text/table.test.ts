import { describe, expect, it } from 'vitest'
import { displayWidth } from './display-width.ts'
import { type Cell, type Column, table } from './table.ts'
import { coloured, plain } from './tone.ts'

const COLUMNS: readonly Column[] = [
  { title: 'slot' },
  { title: 'state' },
  { title: 'took', align: 'right' },
  { title: 'by', label: 'by' },
]

function draw(rows: readonly (readonly Cell[])[], width = 80): string[] {
  return table({ columns: COLUMNS, rows, width, paint: plain })
}

describe('table', () => {
  it('aligns columns under their titles', () => {
    expect(draw([['a@1', 'succeeded', '6 ms', 'pod-1']])).toEqual([
      ' slot  state      took  by',
      ' a@1   succeeded  6 ms  pod-1',
    ])
  })

  it('moves what does not fit below its row, with its label, and drops nothing', () => {
    expect(draw([['invoice-run@1', 'succeeded', '6 ms', 'pod-3 1.8.2']], 40)).toEqual([
      ' slot           state      took',
      ' invoice-run@1  succeeded  6 ms',
      '   by pod-3 1.8.2',
    ])
  })

  it('leaves a long id whole, on a line of its own', () => {
    const id = `${'x'.repeat(120)}@20260825T020000Z`
    const lines = draw([
      [id, 'failed', '1 s', '-'],
      ['a@1', 'failed', '1 s', '-'],
    ])
    expect(lines).toEqual([' slot  state   took  by', ` ${id}`, '       failed   1 s  -', ' a@1   failed   1 s  -'])
  })

  it('never takes more columns than there are, ids aside', () => {
    const reason = 'no trigger alive 00:58Z-07:12Z, later than the window, '.repeat(5).trim()
    for (const width of [40, 80, 120]) {
      const lines = draw([['日次レポート@20260825T020000Z', 'missed', '-', reason]], width)
      for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(width)
      expect(lines.join(' ').replaceAll(/\s+/g, ' ')).toContain(reason)
    }
  })

  it('shows what a terminal would act on, and colours only by tone', () => {
    const [, line = ''] = table({
      columns: COLUMNS,
      rows: [['a\u001b[2J\u202e', { text: 'failed\n', tone: 'bad' }, '', '']],
      width: 80,
      paint: coloured,
    })
    expect(line).toContain('a\\u{1b}[2J\\u{202e}')
    expect(line).toContain('\u001b[31mfailed\\u{0a}')
    expect(line.replaceAll(/\p{Cc}\[\d+m/gu, '')).not.toMatch(/\p{Cc}/u)
  })

  it('draws nothing for no rows', () => {
    expect(draw([])).toEqual([])
  })
})
