/** A clock: the only source of the present instant and of timers. Injected everywhere, so that tests drive it by hand. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number
  /** Calls `fire` once, `delayMs` from now (not before), and returns what cancels it. */
  after(delayMs: number, fire: () => void): CancelTimer
}

export type CancelTimer = () => void

/** The longest delay a Node timer takes before it fires at once instead: 2^31 - 1 ms. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** The machine's clock. Timers beyond {@link LONGEST_TIMER_MS} fire early; callers re-arm from `now()`. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(delayMs, fire) {
    const timer = setTimeout(fire, Math.min(Math.max(0, delayMs), LONGEST_TIMER_MS))
    return () => clearTimeout(timer)
  },
}

/** Waits so long, or until it is told to stop; never fails. */
export function waitFor(delayMs: number, { clock, signal }: { clock: Clock; signal: AbortSignal }): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted || delayMs <= 0) return resolve()
    const end = () => {
      cancel()
      signal.removeEventListener('abort', end)
      resolve()
    }
    const cancel = clock.after(delayMs, end)
    signal.addEventListener('abort', end)
  })
}
