import type { Clock } from '@cronce/core'

/** What starts within this time may start at once: a rate is kept over the second, not over the millisecond. */
const TOGETHER_MS = 1_000

/** How often at most something starts: slots of a backfill, dead letters of a redrive. */
export class Pace {
  readonly #intervalMs: number
  readonly #clock: Clock
  #startedAt = Number.NEGATIVE_INFINITY
  #earnedMs = 0

  /** `intervalMs`: the least time between two starts; 0 is no limit. */
  constructor({ intervalMs, clock }: { intervalMs: number; clock: Clock }) {
    this.#intervalMs = intervalMs
    this.#clock = clock
  }

  /** How long the next start has to wait, ms. A clock that was put back does not make it longer than the interval. */
  get restMs(): number {
    return Math.min(this.#earnedMs, Math.max(0, this.#startedAt + this.#earnedMs - this.#clock.now()))
  }

  /** How many may start together, at least one. */
  get together(): number {
    return this.#intervalMs === 0 ? Number.POSITIVE_INFINITY : Math.max(1, Math.floor(TOGETHER_MS / this.#intervalMs))
  }

  /** So many have started now; the next ones wait for each of them. */
  took(count = 1): void {
    this.#startedAt = this.#clock.now()
    this.#earnedMs = count * this.#intervalMs
  }
}
