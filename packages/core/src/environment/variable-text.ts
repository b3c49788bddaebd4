import type { z } from 'zod'
import { durationFault, formatDuration, parseDuration } from '../duration.ts'
import { describeValue } from '../errors/describe-value.ts'
import { checked, oneOf } from '../job/fields.ts'

/** Text of one line; unset where it is empty. */
export function optionalText(): z.ZodType<string | undefined> {
  return checked(
    (value) => (value === '' ? undefined : lineFault(value)),
    (value) => (value === '' ? undefined : (value as string)),
  )
}

/** Text of one line, not empty. */
export function lineText(): z.ZodType<string> {
  return checked(lineFault, (value) => value as string)
}

/** One of a few words. */
export function wordText<const T extends readonly string[]>(words: T): z.ZodType<T[number]> {
  return oneOf(words)
}

/** A TCP port; 0 takes any free one. */
export function portText(): z.ZodType<number> {
  return checked(
    (value) =>
      typeof value === 'string' && /^\d{1,5}$/.test(value) && Number(value) <= 65_535
        ? undefined
        : `expected a port from 0 to 65535, got ${describeValue(value)}`,
    Number,
  )
}

/** A whole number within a range. */
export function wholeText({ least, most }: { least: number; most: number }): z.ZodType<number> {
  return checked((value) => {
    const isWhole = typeof value === 'string' && /^\d{1,9}$/.test(value)
    if (isWhole && Number(value) >= least && Number(value) <= most) return undefined
    return `expected a whole number from ${least} to ${most}, got ${describeValue(value)}`
  }, Number)
}

/** A duration with its unit, or digits alone for milliseconds; read as milliseconds. */
export function durationText(range: { leastMs: number; mostMs: number }): z.ZodType<number> {
  const { leastMs, mostMs } = range
  const asWritten = (value: unknown) => (typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value)
  const faultOf = (value: unknown) => {
    const fault = durationFault(asWritten(value))
    if (fault !== undefined) return fault
    const durationMs = parseDuration(asWritten(value))
    if (durationMs >= leastMs && durationMs <= mostMs) return undefined
    return `expected a duration from ${formatDuration(leastMs)} to ${formatDuration(mostMs)}, got ${describeValue(value)}`
  }
  return checked(faultOf, (value) => parseDuration(asWritten(value)))
}

/** A URL of one of these protocols, or unset where it is empty; see {@link urlText}. */
export function optionalUrlText(protocols: readonly string[]): z.ZodType<string | undefined> {
  return checked(
    (value) => (value === '' ? undefined : urlFault(protocols, value)),
    (value) => (value === '' ? undefined : (value as string)),
  )
}

/** A URL of one of these protocols (`redis:`). Its password is in no message. */
export function urlText(protocols: readonly string[]): z.ZodType<string> {
  return checked(
    (value) => urlFault(protocols, value),
    (value) => value as string,
  )
}

function urlFault(protocols: readonly string[], value: unknown): string | undefined {
  const isUrl = typeof value === 'string' && URL.canParse(value)
  if (isUrl && protocols.some((protocol) => value.startsWith(`${protocol}//`))) return undefined
  const list = protocols.map((protocol) => `${protocol}//`).join(' or ')
  return `expected a URL that begins with ${list}, got ${describeValue(withoutPassword(value))}`
}

function lineFault(value: unknown): string | undefined {
  const isLine = typeof value === 'string' && value.trim() === value && value !== '' && value.length <= 128
  return isLine && !/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(value)
    ? undefined
    : `expected one line of at most 128 characters, got ${describeValue(value)}`
}

function withoutPassword(value: unknown): unknown {
  return typeof value === 'string' ? value.replace(/(^|\/\/)[^/@]*@/, '$1***@') : value
}
