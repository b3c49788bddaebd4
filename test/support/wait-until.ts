import { setTimeout as delay } from 'node:timers/promises'

export interface WaitOptions {
  /** What is waited for, as the error will say: `waited 10000 ms for: slot recorded`. A function is asked at the end. */
  readonly message: string | (() => string)
  /** Gives up after this long. Default 10 000. */
  readonly timeoutMs?: number
  /** Pause between two looks. Default 20. */
  readonly everyMs?: number
}

type Falsy = false | undefined | null | '' | 0

/**
 * Looks at `condition` until it answers something truthy, and returns that answer. A condition that throws counts as not
 * yet; its last error becomes the cause when time is up. A look that hangs (a frozen Redis) does not outlive the deadline.
 * Nothing else in the tests waits by the clock.
 *
 * @throws Error `waited N ms for: message`
 * @example
 * const run = await waitUntil(() => ledger.find(slotKey), { message: `${slotKey} recorded` })
 */
export async function waitUntil<T>(
  condition: () => T | Falsy | Promise<T | Falsy>,
  options: WaitOptions,
): Promise<Exclude<T, Falsy>> {
  const { message, timeoutMs = 10_000, everyMs = 20 } = options
  const deadline = performance.now() + timeoutMs
  let cause: unknown
  do {
    try {
      const remainingMs = Math.max(deadline - performance.now(), 1)
      const answer = await within(condition(), remainingMs)
      if (answer) return answer as Exclude<T, Falsy>
    } catch (error) {
      cause = error
    }
    await delay(everyMs)
  } while (performance.now() < deadline)
  const what = typeof message === 'string' ? message : message()
  throw new Error(`waited ${timeoutMs} ms for: ${what}`, cause === undefined ? undefined : { cause })
}

/**
 * Takes this long: the work of a handler that a test needs to be under way. Never a way to wait for something.
 */
export async function takeTime(durationMs: number): Promise<void> {
  await delay(durationMs)
}

async function within<T>(look: T | Promise<T>, timeoutMs: number): Promise<T | undefined> {
  if (!(look instanceof Promise)) return look
  const stop = new AbortController()
  try {
    return await Promise.race([look, delay(timeoutMs, undefined, { signal: stop.signal })])
  } finally {
    stop.abort()
  }
}
