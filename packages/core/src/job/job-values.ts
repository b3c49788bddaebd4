import type { z } from 'zod'
import { durationFault, formatDuration, parseDuration } from '../duration.ts'
import { describeValue } from '../errors/describe-value.ts'
import { checked, oneOf, share, text, wholeNumber } from './fields.ts'
import {
  LONGEST_DURATION_MS,
  MOST_ATTEMPTS,
  MOST_CATCH_UP_SLOTS,
  MOST_CHUNK_ENTITIES,
  MOST_LIMIT_CONCURRENCY,
  MOST_RATE,
} from './job-defaults.ts'
import { foreignQueueFault, jobNameFault, queueNameFault } from './job-name.ts'
import type { Redaction } from './redact-payload.ts'

const WHY_NO_CRASH_DEFAULT =
  ': there is no default, because only the author knows whether work that a crash interrupted may be repeated ("complete") or must not be ("skip")'

/** The values of a definition that are written and stored alike. */
export const VALUES = {
  name: text(jobNameFault),
  onCrash: oneOf(['skip', 'complete'], WHY_NO_CRASH_DEFAULT),
  catchUpMode: oneOf(['late', 'latest', 'skip']),
  atMost: wholeNumber(1, MOST_CATCH_UP_SLOTS),
  overlap: oneOf(['allow', 'skip', 'queue', 'cancel-previous']),
  chunkCount: wholeNumber(1, MOST_CHUNK_ENTITIES),
  attempts: wholeNumber(1, MOST_ATTEMPTS),
  backoffType: oneOf(['exponential', 'fixed']),
  jitter: share(),
  limitConcurrency: wholeNumber(1, MOST_LIMIT_CONCURRENCY),
  rateMax: wholeNumber(1, MOST_RATE),
  queue: text(queueNameFault),
  version: wholeNumber(1, Number.MAX_SAFE_INTEGER),
  foreignQueue: text(foreignQueueFault),
  foreignJob: text((value) => lineFault('job name', value, 128)),
  prefix: text((value) => lineFault('prefix', value, 128)),
  description: text((value) => lineFault('description', value, 500)),
  redact: checked(redactFault, (value) => value as Redaction),
} as const satisfies Record<string, z.ZodType>

/** A duration as authors write it, above zero and at most `longestMs`; its output is milliseconds. */
export function writtenDuration(longestMs = LONGEST_DURATION_MS): z.ZodType<number> {
  return checked((value) => durationFault(value) ?? rangeFault(value, parseDuration(value), longestMs), parseDuration)
}

/** A duration as it is stored: whole milliseconds, above zero and at most `longestMs`. */
export function storedDuration(longestMs = LONGEST_DURATION_MS): z.ZodType<number> {
  return wholeNumber(1, longestMs)
}

function rangeFault(value: unknown, durationMs: number, longestMs: number): string | undefined {
  if (durationMs === 0) return `expected a duration above zero, got ${describeValue(value)}`
  return durationMs > longestMs
    ? `expected a duration of at most ${formatDuration(longestMs)}, got ${describeValue(value)}`
    : undefined
}

const MOST_PATHS = 100

function redactFault(value: unknown): string | undefined {
  if (value === 'all') return undefined
  const expected = `expected "all", or 1 to ${MOST_PATHS} fields such as "iban" or "customer.email"`
  if (!Array.isArray(value) || value.length === 0 || value.length > MOST_PATHS) {
    return `${expected}, got ${describeValue(value)}`
  }
  const odd = value.find((path) => typeof path !== 'string' || path.length > 200 || path.split('.').includes(''))
  if (odd !== undefined) return `${expected}, got ${describeValue(odd)} among them`
  return new Set(value).size === value.length ? undefined : `${expected}, each once`
}

function lineFault(noun: string, value: unknown, longest: number): string | undefined {
  if (typeof value !== 'string' || value.trim() === '')
    return `expected a non-empty ${noun}, got ${describeValue(value)}`
  if (value.length > longest) return `expected a ${noun} of at most ${longest} characters, got ${value.length}`
  if (/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(value))
    return `expected a ${noun} of one line, without control characters, got ${describeValue(value)}`
  return undefined
}
