import type { Random } from '../random.ts'

/** How long to wait between attempts. All durations in milliseconds. */
export interface Backoff {
  readonly type: 'exponential' | 'fixed'
  /** The first wait. */
  readonly delayMs: number
  /** No wait is longer than this, jitter included. */
  readonly capMs: number
  /** Share of the wait that is left to chance, 0 to 1: 0.5 waits between half and all of it. Spreads entities that failed together. */
  readonly jitter: number
}

/**
 * The wait after the given failed attempt, in whole milliseconds; never above `capMs`, never negative.
 *
 * @param attempt the attempt that failed, from 1.
 * @example retryDelay({ type: 'exponential', delayMs: 5_000, capMs: 600_000, jitter: 0 }, 3, random) // 20000
 */
export function retryDelay(backoff: Backoff, attempt: number, random: Random): number {
  // 2 ** 1023 is the last power a number holds; the cap is far below, so the exponent may be cut first.
  const growth = backoff.type === 'fixed' ? 1 : 2 ** Math.min(Math.max(0, attempt - 1), 60)
  const wait = Math.min(backoff.capMs, backoff.delayMs * growth)
  return Math.round(wait * (1 - backoff.jitter * random()))
}
