/** Seconds of a civil day. */
export const DAY_SECONDS = 86_400

/** Days from 1970-01-01 to 0001-01-01 and to 9999-12-31: the calendar ends where its text form would need more than four digits. */
export const FIRST_DAY = -719_162
export const LAST_DAY = 2_932_896

/** The instants that can be slots, less a margin for offsets. Epoch seconds. */
export const FIRST_SECOND = (FIRST_DAY + 1) * DAY_SECONDS
export const LAST_SECOND = (LAST_DAY - 1) * DAY_SECONDS

const DAYS_BEFORE_MONTH = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334] as const

/** Days since 1970-01-01 of the first of a month. `monthNumber` is year * 12 + month - 1, proleptic Gregorian. */
export function firstDayOfMonth(monthNumber: number): number {
  const year = Math.floor(monthNumber / 12)
  const month = monthNumber - year * 12
  const past = year - 1
  const leapDays = Math.floor(past / 4) - Math.floor(past / 100) + Math.floor(past / 400)
  return past * 365 + leapDays + FIRST_DAY + (DAYS_BEFORE_MONTH[month] ?? 0) + (month > 1 && isLeap(year) ? 1 : 0)
}

/** year * 12 + month - 1 of a day. After Howard Hinnant, "chrono-compatible low-level date algorithms" (public domain). */
export function monthOfDay(day: number): number {
  const shifted = day + 719_468
  const era = Math.floor(shifted / 146_097)
  const dayOfEra = shifted - era * 146_097
  const yearOfEra =
    ((dayOfEra - ((dayOfEra / 1460) | 0) + ((dayOfEra / 36_524) | 0) - ((dayOfEra / 146_096) | 0)) / 365) | 0
  const dayOfYear = dayOfEra - (365 * yearOfEra + ((yearOfEra / 4) | 0) - ((yearOfEra / 100) | 0))
  const marchMonth = ((5 * dayOfYear + 2) / 153) | 0
  // March is month 0 of Hinnant's year; January and February belong to the next civil year.
  return (yearOfEra + era * 400) * 12 + marchMonth + 2
}

/** 0 is Sunday. */
export function weekdayOfDay(day: number): number {
  return (((day + 4) % 7) + 7) % 7
}

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
}
