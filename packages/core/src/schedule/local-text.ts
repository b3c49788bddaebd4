import { RecentMap } from '../recent-map.ts'
import { DAY_SECONDS, firstDayOfMonth, monthOfDay } from './civil.ts'

/** English wherever it is spoken: each locale knows the abbreviations of its own zones (EDT, CEST, AEST, NZDT, IST, SAST). */
const LOCALES = ['en-US', 'en-GB', 'en-AU', 'en-NZ', 'en-IN', 'en-ZA', 'en-CA'] as const

const MOST_FORMATS = 1_000

const formats = new RecentMap<string, Intl.DateTimeFormat>(MOST_FORMATS)

/** `2026-03-08` of a local time (seconds on the wall clock since 1970). */
export function dateText(local: number): string {
  const day = Math.floor(local / DAY_SECONDS)
  const month = monthOfDay(day)
  const year = Math.floor(month / 12)
  return `${String(year).padStart(4, '0')}-${two(month - year * 12 + 1)}-${two(day - firstDayOfMonth(month) + 1)}`
}

/** `02:30`, with seconds where there are any. */
export function timeText(local: number): string {
  const time = local - Math.floor(local / DAY_SECONDS) * DAY_SECONDS
  const seconds = time % 60
  return `${two(Math.floor(time / 3600))}:${two(Math.floor(time / 60) % 60)}${seconds === 0 ? '' : `:${two(seconds)}`}`
}

/** `2026-03-08T03:00:00-04:00[America/New_York]` (RFC 9557). */
export function zonedText(at: number, offset: number, zone: string): string {
  const local = at + offset
  const time = timeText(local)
  return `${dateText(local)}T${time.length === 5 ? `${time}:00` : time}${offsetText(offset)}[${zone}]`
}

/** `EDT`, or `GMT+5:45` where English has no abbreviation. */
export function zoneAbbreviation(at: number, zone: string): string {
  if (zone === 'UTC') return 'UTC'
  const names = LOCALES.map((locale) => shortName(locale, zone, at))
  return names.find((name) => !/^(GMT|UTC)[+-]/.test(name)) ?? names[0] ?? zone
}

/** `07:00Z`, or `2026-03-08T07:00Z` where the date is not that of the local time it stands beside. */
export function utcText(at: number, besideDate: string): string {
  return dateText(at) === besideDate ? `${timeText(at)}Z` : `${dateText(at)}T${timeText(at)}Z`
}

function offsetText(offset: number): string {
  const time = timeText(Math.abs(offset))
  return `${offset < 0 ? '-' : '+'}${time}`
}

function shortName(locale: string, zone: string, at: number): string {
  const key = `${locale} ${zone}`
  let format = formats.get(key)
  if (format === undefined) {
    format = new Intl.DateTimeFormat(locale, { timeZone: zone, timeZoneName: 'short' })
    formats.set(key, format)
  }
  return format.formatToParts(at * 1000).find(({ type }) => type === 'timeZoneName')?.value ?? zone
}

function two(value: number): string {
  return String(value).padStart(2, '0')
}
