import { CronceError, describeValue } from '@cronce/core'

/** Longest note that is kept beside a change: a reason, a ticket, not a report. */
export const LONGEST_NOTE = 1_000

/** A request that is refused, by one value of it. */
export function refused(path: string, expected: string, got: unknown): CronceError {
  const message = `expected ${path} to be ${expected}, got ${describeValue(got)}`
  return new CronceError('CRONCE_INPUT_INVALID', { count: 1, summary: message }, { faults: [{ path, message }] })
}

/** @throws CronceError CRONCE_INPUT_INVALID */
export function requireText(path: string, text: string, longest: number): string {
  const trimmed = text.trim()
  if (trimmed !== '' && trimmed.length <= longest) return trimmed
  throw refused(path, `a text of 1 to ${longest} characters`, text)
}

/** @throws CronceError CRONCE_INPUT_INVALID */
export function requireWithin(path: string, value: number, limits: { least: number; most: number }): number {
  if (Number.isInteger(value) && value >= limits.least && value <= limits.most) return value
  throw refused(path, `a whole number from ${limits.least} to ${limits.most}`, value)
}
