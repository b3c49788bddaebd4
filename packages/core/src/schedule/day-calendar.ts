import { FIRST_DAY, firstDayOfMonth, LAST_DAY, monthOfDay, weekdayOfDay } from './civil.ts'

export interface DayRule {
  readonly months: ReadonlySet<number>
  readonly days: ReadonlySet<number>
  readonly isLastDay: boolean
  readonly weekdays: ReadonlySet<number>
  /** [1, 3] is the third Monday, [1, 0] the last. */
  readonly nthWeekdays: readonly (readonly [weekday: number, nth: number])[]
  /** Either day field may match, or both must. */
  readonly isEither: boolean
}

const FIRST_MONTH = 12
const LAST_MONTH = 9999 * 12 + 11

/** The Gregorian calendar repeats, weekdays included, after 400 years. */
const CYCLE_MONTHS = 4800

const ALL_DAYS = 0x7fff_ffff

/** Which days of the calendar match. A day is a whole number: days since 1970-01-01. */
export class DayCalendar {
  /** Every day matches, so that nothing need be looked up. */
  readonly isEveryDay: boolean
  readonly #rule: DayRule
  readonly #months: boolean[]
  readonly #daysMask: number
  /** By weekday of the first of the month: the days of the month that fall on a matching weekday. */
  readonly #weekdayMasks: number[]
  /** The month looked at last: its number, matching days (bit 0 is the first) and first day. */
  #month = Number.NaN
  #mask = 0
  #firstDay = 0

  constructor(rule: DayRule) {
    this.#rule = rule
    this.#months = Array.from({ length: 12 }, (_, month) => rule.months.has(month + 1))
    this.#daysMask = [...rule.days].reduce((mask, day) => mask | (1 << (day - 1)), 0)
    this.#weekdayMasks = Array.from({ length: 7 }, (_, first) => weekdayMask(first, rule.weekdays))
    const isPlain = rule.nthWeekdays.length === 0 && !rule.isEither && this.#daysMask === ALL_DAYS && rule.weekdays.size === 7
    this.isEveryDay = isPlain && rule.months.size === 12
  }

  matches(day: number): boolean {
    if (this.isEveryDay) return true
    this.#visit(monthOfDay(day))
    return (this.#mask & (1 << (day - this.#firstDay))) !== 0
  }

  /** Whether any day of the calendar's cycle of 400 years matches. */
  get occurs(): boolean {
    return Number.isFinite(this.next(0))
  }

  /** The first matching day that is not before `day`; Infinity where the calendar ends first. */
  next(day: number): number {
    if (day > LAST_DAY) return Number.POSITIVE_INFINITY
    if (this.isEveryDay || day < FIRST_DAY) return this.isEveryDay ? Math.max(day, FIRST_DAY) : this.next(FIRST_DAY)
    let month = monthOfDay(day)
    this.#visit(month)
    let mask = this.#mask & (-1 << (day - this.#firstDay))
    for (const last = Math.min(LAST_MONTH, month + CYCLE_MONTHS); mask === 0 && month < last; ) {
      month += 1
      if (this.#months[month % 12] !== true) continue
      this.#visit(month)
      mask = this.#mask
    }
    return mask === 0 ? Number.POSITIVE_INFINITY : this.#firstDay + 31 - Math.clz32(mask & -mask)
  }

  /** The last matching day that is not after `day`; -Infinity where the calendar begins later. */
  prev(day: number): number {
    if (day < FIRST_DAY) return Number.NEGATIVE_INFINITY
    if (this.isEveryDay || day > LAST_DAY) return this.isEveryDay ? Math.min(day, LAST_DAY) : this.prev(LAST_DAY)
    let month = monthOfDay(day)
    this.#visit(month)
    let mask = this.#mask & (ALL_DAYS >>> (30 - (day - this.#firstDay)))
    for (const first = Math.max(FIRST_MONTH, month - CYCLE_MONTHS); mask === 0 && month > first; ) {
      month -= 1
      if (this.#months[month % 12] !== true) continue
      this.#visit(month)
      mask = this.#mask
    }
    return mask === 0 ? Number.NEGATIVE_INFINITY : this.#firstDay + 31 - Math.clz32(mask)
  }

  /** How many days match from `from` up to, not including, `until`. */
  count(from: number, until: number): number {
    if (until <= from) return 0
    if (this.isEveryDay) return until - from
    let count = 0
    const last = monthOfDay(until - 1)
    for (let month = monthOfDay(from); month <= last; month += 1) {
      if (this.#months[month % 12] !== true) continue
      this.#visit(month)
      let mask = this.#mask
      if (from > this.#firstDay) mask &= -1 << (from - this.#firstDay)
      if (until < this.#firstDay + 31) mask &= ALL_DAYS >>> (31 - (until - this.#firstDay))
      count += bitCount(mask)
    }
    return count
  }

  #visit(month: number): void {
    if (month === this.#month) return
    this.#month = month
    this.#firstDay = firstDayOfMonth(month)
    this.#mask = this.#months[((month % 12) + 12) % 12] === true ? this.#monthMask(month) : 0
  }

  #monthMask(month: number): number {
    const length = firstDayOfMonth(month + 1) - this.#firstDay
    const firstWeekday = weekdayOfDay(this.#firstDay)
    const { isLastDay, nthWeekdays, isEither } = this.#rule
    const days = this.#daysMask | (isLastDay ? 1 << (length - 1) : 0)
    let weekdays = this.#weekdayMasks[firstWeekday] ?? 0
    for (const [weekday, nth] of nthWeekdays) {
      const first = (weekday - firstWeekday + 7) % 7
      const day = nth === 0 ? first + 7 * Math.floor((length - 1 - first) / 7) : first + 7 * (nth - 1)
      if (day < length) weekdays |= 1 << day
    }
    return (isEither ? days | weekdays : days & weekdays) & (ALL_DAYS >>> (31 - length))
  }
}

function weekdayMask(firstWeekday: number, weekdays: ReadonlySet<number>): number {
  let mask = 0
  for (let day = 0; day < 31; day += 1) if (weekdays.has((firstWeekday + day) % 7)) mask |= 1 << day
  return mask
}

function bitCount(mask: number): number {
  const pairs = mask - ((mask >>> 1) & 0x5555_5555)
  const fours = (pairs & 0x3333_3333) + ((pairs >>> 2) & 0x3333_3333)
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24
}
