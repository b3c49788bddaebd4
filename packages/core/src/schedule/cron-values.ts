import { CronExpressionParser } from 'cron-parser'
import { RecentMap } from '../recent-map.ts'
import { CRON_FIELDS, type CronField, SUNDAY_AGAIN } from './cron-fields.ts'
import type { CronText } from './cron-text.ts'

/** The values of every field; one that is written twice may be in twice. */
export type CronValues = Readonly<Record<CronField, readonly number[]>>

interface Piece {
  readonly field: CronField
  readonly text: string
}

/** Far more than services write. */
const MOST_PIECES = 5_000

/** Stands in for a field that is not asked about. The first fits every month. */
const FILLER: Readonly<Record<CronField, string>> = {
  second: '0',
  minute: '0',
  hour: '0',
  day: '1',
  month: '*',
  weekday: '*',
}

const known = new RecentMap<string, readonly number[]>(MOST_PIECES)

/** The values of every field. cron-parser reads each piece once per process. */
export function cronValues(text: CronText): CronValues {
  const unknown: Piece[] = []
  const values: Record<CronField, readonly number[]> = {
    second: [],
    minute: [],
    hour: [],
    day: [],
    month: [],
    weekday: [],
  }
  for (const field of CRON_FIELDS) {
    for (const piece of text[field].pieces) {
      const read = known.get(keyOf(field, piece))
      if (read === undefined) unknown.push({ field, text: piece })
      else values[field] = values[field].length === 0 ? read : [...values[field], ...read]
    }
  }
  for (const [{ field }, read] of learn(unknown)) values[field] = [...values[field], ...read]
  return values
}

/**
 * Reads pieces, at most one of a field at a time: cron-parser refuses lists whose items overlap (`1-5,3`). Never a day beside a
 * month: it drops, or refuses, days that a lone month does not have.
 */
function learn(unknown: readonly Piece[]): readonly (readonly [Piece, readonly number[]])[] {
  const learned: [Piece, readonly number[]][] = []
  for (let left = unknown; left.length > 0; ) {
    const row: Partial<Record<CronField, string>> = {}
    const later: Piece[] = []
    for (const piece of left) {
      const isTaken = row[piece.field] !== undefined || (piece.field === 'month' && row.day !== undefined)
      if (isTaken) later.push(piece)
      else row[piece.field] = piece.text
    }
    const { fields } = CronExpressionParser.parse(CRON_FIELDS.map((field) => row[field] ?? FILLER[field]).join(' '))
    const read = {
      second: fields.second,
      minute: fields.minute,
      hour: fields.hour,
      day: fields.dayOfMonth,
      month: fields.month,
      weekday: fields.dayOfWeek,
    }
    for (const field of CRON_FIELDS) {
      const text = row[field]
      if (text === undefined) continue
      // 7 is Sunday too.
      const values = read[field].values.map((value) =>
        field === 'weekday' ? Number(value) % SUNDAY_AGAIN : Number(value),
      )
      known.set(keyOf(field, text), values)
      learned.push([{ field, text }, values])
    }
    left = later
  }
  return learned
}

function keyOf(field: CronField, text: string): string {
  return `${field} ${text}`
}
