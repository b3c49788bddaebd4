import { CronceError, describeValue, durationFault, parseDuration, parseRate, RATE_FORM } from '@cronce/core'

const INSTANT = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2})(?::(\d{2})(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/

/**
 * An instant in ISO 8601 with its offset: `2026-03-07T12:00:00Z`, `2026-03-07T13:00+01:00`. Without an offset it would
 * depend on the zone of this machine.
 *
 * @returns epoch milliseconds
 * @throws CronceError CRONCE_USAGE
 */
export function readInstant(option: string, text: string): number {
  const match = INSTANT.exec(text)
  const at = match === null ? Number.NaN : Date.parse(text)
  const [, minute = '', second = '00', , offset = ''] = match ?? []
  // Date.parse lets 31 February roll over into March.
  const isReal = !Number.isNaN(at) && new Date(at + offsetMs(offset)).toISOString().startsWith(`${minute}:${second}`)
  if (isReal) return at
  throw refusal(option, 'an instant such as 2026-03-07T12:00:00Z', text)
}

/**
 * A UTC day, `2026-11-01`, which is its first instant, or an instant as {@link readInstant} reads it.
 *
 * @returns epoch milliseconds
 * @throws CronceError CRONCE_USAGE
 */
export function readDayOrInstant(option: string, text: string): number {
  try {
    return readInstant(option, /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text)
  } catch {
    throw refusal(option, 'a day such as 2026-11-01 or an instant such as 2026-11-01T12:00:00Z', text)
  }
}

/**
 * An instant, or how long from now.
 *
 * @throws CronceError CRONCE_USAGE
 */
export function readUntil(option: string, text: string): { at: number } | { afterMs: number } {
  if (durationFault(text) === undefined) return { afterMs: parseDuration(text) }
  try {
    return { at: readInstant(option, text) }
  } catch {
    throw refusal(option, 'a duration such as 2h or an instant such as 2026-11-01T12:00:00Z', text)
  }
}

/**
 * How often at most: `2/min`, `30/h`, `0.5/s`.
 *
 * @returns the least time between two, ms
 * @throws CronceError CRONCE_USAGE
 */
export function readRate(option: string, text: string): number {
  const intervalMs = parseRate(text)
  if (intervalMs !== undefined) return intervalMs
  throw refusal(option, RATE_FORM, text)
}

/** @throws CronceError CRONCE_USAGE */
export function readCount(option: string, text: string, limits: { least: number; most: number }): number {
  const count = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (count >= limits.least && count <= limits.most) return count
  throw refusal(option, `a whole number from ${limits.least} to ${limits.most}`, text)
}

/** @throws CronceError CRONCE_USAGE */
export function readChoice<Choice extends string>(option: string, text: string, choices: readonly Choice[]): Choice {
  const choice = choices.find((each) => each === text)
  if (choice !== undefined) return choice
  throw refusal(option, `one of ${choices.join(', ')}`, text)
}

/** @throws CronceError CRONCE_USAGE */
export function readText(option: string, text: string, limits: { most: number }): string {
  if (text.trim() !== '' && text.length <= limits.most) return text
  throw refusal(option, `a text of 1 to ${limits.most} characters`, text)
}

function refusal(option: string, expected: string, got: string): CronceError {
  return new CronceError('CRONCE_USAGE', { reason: `expected ${option} to be ${expected}, got ${describeValue(got)}` })
}

function offsetMs(offset: string): number {
  if (offset === 'Z' || offset === '') return 0
  const [hours = 0, minutes = 0] = offset.slice(1).split(':').map(Number)
  return (offset.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000
}
