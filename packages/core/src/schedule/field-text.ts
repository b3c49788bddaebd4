import { CronceError } from '../errors/cronce-error.ts'
import { type CronField, type CronFieldRange, FIELD_RANGE, SUNDAY_AGAIN } from './cron-fields.ts'

/** One field: its names turned to numbers and its inverted ranges split, in pieces that a cron parser reads without surprise. */
export interface FieldText {
  /** Each a list of plain values, one range or one stepped range. None where the field is all `#` or `L`. */
  readonly pieces: readonly string[]
  /** Starts with `*`: unrestricted for the day rule, interval-like for minutes and hours. */
  readonly isStar: boolean
  /** `L` in the day field. */
  readonly isLastDay: boolean
  /** `1#3` is [1, 3]; `1L`, the last of the month, is [1, 0]. */
  readonly nthWeekdays: readonly (readonly [weekday: number, nth: number])[]
}

export interface FieldReading {
  readonly field: FieldText
  readonly faults: readonly CronceError[]
}

const ITEM = /^(\*|\d{1,4}|[a-z]{3,9})(?:-(\d{1,4}|[a-z]{3,9}))?(?:\/(\d{1,4}))?$/i
const NTH_WEEKDAY = /^([0-7]|[a-z]{3})#([1-5])$/i
const LAST_WEEKDAY = /^([0-7]|[a-z]{3})L$/i

/** Reads one field of an expression; a refusal names the token. */
export function readField(field: CronField, token: string): FieldReading {
  const range = FIELD_RANGE[field]
  const plain = new Set<number>()
  const ranges = new Set<string>()
  const nthWeekdays: (readonly [number, number])[] = []
  const faults: CronceError[] = []
  let isLastDay = false
  for (const item of token.split(',')) {
    const nth = field === 'weekday' ? readNthWeekday(item, range) : undefined
    if (nth !== undefined) nthWeekdays.push(nth)
    else if (field === 'day' && /^L$/i.test(item)) isLastDay = true
    else {
      const read = readItem(item, range)
      if (typeof read === 'string') faults.push(fault(field, item, read))
      else {
        for (const piece of read) {
          if (typeof piece === 'number') plain.add(piece)
          else ranges.add(piece)
        }
      }
    }
  }
  const values = [...plain].map((value) => (field === 'weekday' ? value % SUNDAY_AGAIN : value))
  const pieces = values.length > 0 ? [[...new Set(values)].join(','), ...ranges] : [...ranges]
  return { field: { pieces, isStar: token.startsWith('*'), isLastDay, nthWeekdays }, faults }
}

/** The plain values and ranges of one list item, or why it is refused. */
function readItem(item: string, range: CronFieldRange): readonly (number | string)[] | string {
  const match = ITEM.exec(item)
  if (match === null) return ''
  const [, first = '', last, stepText] = match
  const step = stepText === undefined ? 1 : Number(stepText)
  const width = range.most === SUNDAY_AGAIN ? SUNDAY_AGAIN : range.most - range.least + 1
  if (step < 1 || step > width) return `: a step is 1 to ${width} here`
  const suffix = stepText === undefined ? '' : `/${step}`
  if (first === '*') return last === undefined ? [`*${suffix}`] : ': a range goes from a value to a value'
  const from = readValue(first, range)
  const to = last === undefined ? undefined : readValue(last, range)
  if (from === undefined || (last !== undefined && to === undefined)) return ''
  if (to === undefined) return [stepText === undefined ? from : `${from}${suffix}`]
  return from <= to ? [`${from}-${to}${suffix}`] : wrap({ from, to, step, width, least: range.least })
}

/** `22-2` is 22, 23, 0, 1, 2: an inverted range goes on past the end of the field, in steps that count on. */
function wrap(range: { from: number; to: number; step: number; width: number; least: number }): readonly number[] {
  const length = (range.to - range.from + 2 * range.width) % range.width
  const values: number[] = []
  for (let distance = 0; distance <= length; distance += range.step) {
    values.push(((range.from - range.least + distance) % range.width) + range.least)
  }
  return values
}

function readNthWeekday(item: string, range: CronFieldRange): readonly [number, number] | undefined {
  const match = NTH_WEEKDAY.exec(item) ?? LAST_WEEKDAY.exec(item)
  const weekday = match === null ? undefined : readValue(match[1] ?? '', range)
  return weekday === undefined ? undefined : [weekday % SUNDAY_AGAIN, Number(match?.[2] ?? 0)]
}

function readValue(text: string, range: CronFieldRange): number | undefined {
  const value = /^\d/.test(text)
    ? Number(text)
    : Object.hasOwn(range.names, text.toLowerCase())
      ? range.names[text.toLowerCase()]
      : undefined
  return value !== undefined && value >= range.least && value <= range.most ? value : undefined
}

function fault(field: CronField, item: string, reason: string): CronceError {
  const why = reason === '' ? refusalReason(field, item) : reason
  return new CronceError('CRONCE_SCHEDULE_TOKEN', {
    expected: FIELD_RANGE[field].takes,
    field,
    token: item,
    reason: why,
  })
}

function refusalReason(field: CronField, item: string): string {
  if (item === '') return ': a list has no empty items'
  if (item.includes('?'))
    return ': ? is not supported, write * (and mind that weekday 1 is Monday here, Sunday in Quartz)'
  if (/^H(\W|$)/i.test(item)) return ': H is not supported, write the value out or use `spread`'
  if (/^(\d+|L)?W$|^WL$/i.test(item))
    return `: ${item.toUpperCase().includes('L') ? 'LW' : 'W'} (the nearest working day) is not supported`
  if (/^L-/i.test(item)) return ': days counted back from the last are not supported'
  if (/^L$/i.test(item) && field === 'weekday')
    return ': a lone L is read in two ways, write 6 for Saturdays or 6L for the last one'
  if (/L$/i.test(item))
    return field === 'day'
      ? ': only L alone is supported, nL belongs in the weekday field'
      : ': L belongs in the day field, nL in the weekday field'
  if (item.includes('#')) return ': n#k is a weekday and a number from 1 to 5, in the weekday field'
  return ''
}
