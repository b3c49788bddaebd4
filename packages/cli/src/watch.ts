import { CronceError, describeValue, durationFault, isCronceError, parseDuration, waitFor } from '@cronce/core'
import type { Answer } from './answer.ts'
import type { Context } from './context.ts'
import { JsonReadings, type Reading, TextReadings } from './readings.ts'

/** What a command that can watch was asked with. */
export interface WatchOptions {
  readonly watch?: boolean
  readonly every?: string
}

const EVERY_MS = 2_000
const LEAST_MS = 100
const MOST_MS = 3_600_000

/**
 * How often to look, ms; undefined where a command is to look once.
 *
 * @throws CronceError CRONCE_USAGE
 */
export function readWatch({ watch, every }: WatchOptions): number | undefined {
  if (watch !== true) {
    if (every === undefined) return undefined
    throw new CronceError('CRONCE_USAGE', { reason: 'expected --every with --watch, got it alone' })
  }
  if (every === undefined) return EVERY_MS
  const everyMs = durationFault(every) === undefined ? parseDuration(every) : 0
  if (everyMs >= LEAST_MS && everyMs <= MOST_MS) return everyMs
  const reason = `expected --every to be a duration from 100ms to 1h, got ${describeValue(every)}`
  throw new CronceError('CRONCE_USAGE', { reason })
}

export interface Watch {
  readonly context: Context
  readonly form: 'json' | 'text'
  readonly everyMs: number
}

/**
 * Reads again and again until it is told to stop: draws the terminal anew, or writes a reading after the other; with `--json` one
 * object per line. A Redis that goes away is told and waited for; the first reading has to succeed.
 *
 * @throws CronceError what the first reading throws, and what has nothing to do with Redis
 */
export async function watchVerb(read: () => Promise<Answer>, { context, form, everyMs }: Watch): Promise<void> {
  const { clock, terminal } = context
  const stop = new AbortController()
  const forget = terminal.onInterrupt?.(() => stop.abort())
  const readings = form === 'json' ? new JsonReadings(terminal) : new TextReadings(terminal, everyMs)
  try {
    const { signal } = stop
    let isFirst = true
    while (!signal.aborted) {
      const reading = await orAborted(readOnce(read, isFirst), signal)
      if (reading === undefined) break
      await readings.show(reading, clock.now())
      isFirst = false
      await waitFor(everyMs, { clock, signal })
    }
  } finally {
    forget?.()
  }
}

/** What Redis says or does while it is away, restarts, or has lost what it had. */
const PASSING = ['CRONCE_REDIS_UNREACHABLE', 'CRONCE_REDIS_REFUSED', 'CRONCE_SERVICE_UNKNOWN'] as const

async function readOnce(read: () => Promise<Answer>, isFirst: boolean): Promise<Reading> {
  try {
    return await read()
  } catch (error) {
    if (!isFirst && isCronceError(error) && PASSING.some((code) => code === error.code)) return error
    throw error
  }
}

/** A reading under way does not keep anybody who wants to stop: a Redis that hangs answers after seconds. */
async function orAborted<T>(reading: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  let onAbort = (): void => undefined
  const aborted = new Promise<undefined>((resolve) => {
    onAbort = () => resolve(undefined)
    signal.addEventListener('abort', onAbort)
  })
  try {
    return await Promise.race([reading, aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
    // What it came to does not matter any more.
    void reading.catch(() => undefined)
  }
}
