import { FIRST_DAY, firstDayOfMonth, LAST_DAY, monthOfDay, weekdayOfDay } from './civil.ts'

export interface DayRule {
  readonly months: readonly number[]
  readonly days: readonly number[]
  readonly isLastDay: boolean
  readonly weekdays: readonly number[]
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
const ALL_WEEKDAYS = 0x7f
const ALL_MONTHS = 0xfff

/** Which days of the calendar match. A day is a whole number: days since 1970-01-01. */
export class DayCalendar {
  /** Every day matches, so that nothing need be looked up. */
  readonly isEveryDay: boolean
  readonly #rule: DayRule
  readonly #monthsMask: number
  readonly #daysMask: number
  readonly #weekdaysMask: number
  /** The month looked at last: its number, matching days (bit 0 is the first) and first day. */
  #month = Number.NaN
  #mask = 0
  #firstDay = 0

  constructor(rule: DayRule) {
    this.#rule = rule
    this.#monthsMask = maskOf(rule.months, 1)
    this.#daysMask = maskOf(rule.days, 1)
    this.#weekdaysMask = maskOf(rule.weekdays, 0)
    this.isEveryDay =
      !rule.isEither &&
      this.#daysMask === ALL_DAYS &&
      this.#weekdaysMask === ALL_WEEKDAYS &&
      this.#monthsMask === ALL_MONTHS
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
      if ((this.#monthsMask & (1 << (month % 12))) === 0) continue
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
      if ((this.#monthsMask & (1 << (month % 12))) === 0) continue
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
      if ((this.#monthsMask & (1 << (month % 12))) === 0) continue
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
    this.#mask = (this.#monthsMask & (1 << (((month % 12) + 12) % 12))) !== 0 ? this.#monthMask(month) : 0
  }

  #monthMask(month: number): number {
    const length = firstDayOfMonth(month + 1) - this.#firstDay
    const firstWeekday = weekdayOfDay(this.#firstDay)
    const { isLastDay, nthWeekdays, isEither } = this.#rule
    const days = this.#daysMask | (isLastDay ? 1 << (length - 1) : 0)
    let weekdays = weekdayDays(firstWeekday, this.#weekdaysMask)
    for (const [weekday, nth] of nthWeekdays) {
      const first = (weekday - firstWeekday + 7) % 7
      const day = nth === 0 ? first + 7 * Math.floor((length - 1 - first) / 7) : first + 7 * (nth - 1)
      if (day < length) weekdays |= 1 << day
    }
    return (isEither ? days | weekdays : days & weekdays) & (ALL_DAYS >>> (31 - length))
  }
}

/** The days of a month, whose first is a given weekday, that fall on one of the weekdays. */
function weekdayDays(firstWeekday: number, weekdaysMask: number): number {
  const week = ((weekdaysMask >>> firstWeekday) | (weekdaysMask << (7 - firstWeekday))) & ALL_WEEKDAYS
  return (week | (week << 7) | (week << 14) | (week << 21) | (week << 28)) & ALL_DAYS
}

function maskOf(values: readonly number[], least: number): number {
  let mask = 0
  for (const value of values) mask |= 1 << (value - least)
  return mask
}

function bitCount(mask: number): number {
  const pairs = mask - ((mask >>> 1) & 0x5555_5555)
  const fours = (pairs & 0x3333_3333) + ((pairs >>> 2) & 0x3333_3333)
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24
}
