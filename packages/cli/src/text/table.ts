import { displayWidth, pad, wrap } from './display-width.ts'
import { printable } from './printable.ts'
import type { Paint, Tone } from './tone.ts'

export interface Column {
  readonly title: string
  readonly align?: 'left' | 'right'
  /** What stands before the cell where it had to move below its row, away from its title. */
  readonly label?: string
}

export type Cell = string | { readonly text: string; readonly tone: Tone }

export interface TableOptions {
  readonly columns: readonly Column[]
  /** The first cell of a row is its id. Text in cells is made safe here. */
  readonly rows: readonly (readonly Cell[])[]
  /** Columns of the terminal. */
  readonly width: number
  readonly paint: Paint
  /** Default: the titles are shown. */
  readonly titles?: 'shown' | 'hidden'
}

const GAP = 2
const LEAD = 1
const DETAIL_INDENT = 3

/** A longer id stands on a line of its own, whole, with the rest of its row below it. */
const WIDEST_ID_SHARE = 0.6

/**
 * Rows under titles, within the width of the terminal. Columns that do not fit move, from the last on, to a line below their
 * row; ids are never cut.
 */
export function table({ columns, rows, width, paint, titles = 'shown' }: TableOptions): string[] {
  if (rows.length === 0) return []
  const texts = rows.map((row) => row.map((cell) => printable(typeof cell === 'string' ? cell : cell.text)))
  const idLimit = Math.floor(width * WIDEST_ID_SHARE)
  const widths = columns.map(({ title }, index) => {
    const of = texts.map((row) => displayWidth(row[index] ?? ''))
    const fitting = index === 0 ? of.filter((each) => each <= idLimit) : of
    return Math.max(titles === 'shown' ? displayWidth(title) : 0, ...fitting)
  })
  const shown = columnsThatFit(widths, width)
  const format = (cells: readonly string[], tones: readonly (Tone | undefined)[]): string =>
    `${' '.repeat(LEAD)}${cells
      .slice(0, shown)
      .map((text, index) => paint(pad(text, widths[index] ?? 0, columns[index]?.align), tones[index]))
      .join(' '.repeat(GAP))}`.trimEnd()
  const lines = texts.flatMap((row, number) => {
    const tones = (rows[number] ?? []).map((cell) => (typeof cell === 'string' ? undefined : cell.tone))
    const [id = ''] = row
    const isLong = displayWidth(id) > (widths[0] ?? 0)
    const head = isLong
      ? [`${' '.repeat(LEAD)}${id}`, ...(shown > 1 ? [format(['', ...row.slice(1)], tones)] : [])]
      : [format(row, tones)]
    return [...head, ...details(columns, row, { shown, width })]
  })
  if (titles === 'hidden') return lines
  const head = format(
    columns.map(({ title }) => title),
    [],
  )
  return [paint(head, 'dim'), ...lines]
}

function columnsThatFit(widths: readonly number[], width: number): number {
  let used = LEAD
  for (const [index, each] of widths.entries()) {
    used += each + (index === 0 ? 0 : GAP)
    if (used > width) return Math.max(1, index)
  }
  return widths.length
}

function details(
  columns: readonly Column[],
  row: readonly string[],
  { shown, width }: { shown: number; width: number },
): string[] {
  const moved = columns.flatMap(({ label }, index) => {
    const text = row[index] ?? ''
    if (index < shown || text === '' || text === '-') return []
    return [label === undefined ? text : `${label} ${text}`]
  })
  if (moved.length === 0) return []
  return wrap(moved.join('   '), width - DETAIL_INDENT).map((line) => `${' '.repeat(DETAIL_INDENT)}${line}`)
}
