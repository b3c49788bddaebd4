import { CronceError } from './errors/cronce-error.ts'

/** A length of time: a number with its unit (`"15m"`, `"1.5h"`), or whole milliseconds. */
export type Duration = string | number

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const

type Unit = keyof typeof UNIT_MS

const TEXT = /^(\d{1,15}(?:\.\d{1,9})?) ?(ms|s|m|h|d|w)$/

/**
 * Reads a duration.
 *
 * @param input `"250ms"`, `"90s"`, `"15m"`, `"1.5h"`, `"2d"`, `"1w"`, or whole milliseconds as a number, not negative.
 * @returns milliseconds, a safe integer.
 * @throws CronceError CRONCE_DURATION_INVALID for anything else: no unit, a sign, NaN, a fraction of a millisecond.
 * @example parseDuration('15m') // 900000
 */
export function parseDuration(input: unknown): number {
  const durationMs = readDuration(input)
  if (durationMs === undefined) throw new CronceError('CRONCE_DURATION_INVALID', { got: quote(input) })
  return durationMs
}

/** What is wrong with `input` as a duration ("expected X, got Y"), or undefined where nothing is. Never throws. */
export function durationFault(input: unknown): string | undefined {
  if (readDuration(input) !== undefined) return undefined
  return new CronceError('CRONCE_DURATION_INVALID', { got: quote(input) }).message
}

/**
 * Writes milliseconds as {@link parseDuration} reads them, exactly, in the largest unit that divides them.
 *
 * @example formatDuration(900_000) // '15m'
 */
export function formatDuration(durationMs: number): string {
  for (const unit of ['w', 'd', 'h', 'm', 's'] as const) {
    if (durationMs !== 0 && durationMs % UNIT_MS[unit] === 0) return `${durationMs / UNIT_MS[unit]}${unit}`
  }
  return `${durationMs}ms`
}

function readDuration(input: unknown): number | undefined {
  if (typeof input === 'number') return Number.isSafeInteger(input) && input >= 0 ? input + 0 : undefined
  if (typeof input !== 'string') return undefined
  const match = TEXT.exec(input)
  if (match === null) return undefined
  const exactMs = Number(match[1]) * UNIT_MS[match[2] as Unit]
  const durationMs = Math.round(exactMs)
  // 1.1h is 3960000.0000000005 in binary: a fault of the notation, not a fraction of a millisecond.
  const isWhole = Math.abs(exactMs - durationMs) <= exactMs * Number.EPSILON * 2
  return isWhole && Number.isSafeInteger(durationMs) ? durationMs : undefined
}

function quote(input: unknown): string {
  if (typeof input === 'string') return JSON.stringify(input.length > 40 ? `${input.slice(0, 40)}...` : input)
  if (typeof input === 'number' || typeof input === 'boolean' || input === undefined || input === null)
    return String(input)
  return Array.isArray(input) ? 'a list' : `a value of type ${typeof input}`
}
