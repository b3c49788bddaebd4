import type { Clock } from '@cronce/core'

export interface AllowanceOptions {
  readonly clock: Clock
  /** Asks the store; undefined where the job has no rate. */
  readonly ask:
    | ((request: { wanted: number; atOnce: boolean }) => Promise<{ granted: number; waitMs: number }>)
    | undefined
}

/** How many entities of a chunk may start now, under the rate of its job. What one start does not need, the next one has. */
export class StartAllowance {
  readonly #options: AllowanceOptions
  #left = 0
  /** How long until it is worth asking again, ms, where the last answer was no; else 0. */
  waitMs = 0

  constructor(options: AllowanceOptions) {
    this.#options = options
  }

  /** Up to `wanted` starts; 0: not now. A start that is due within a moment is waited for. */
  async grant(wanted: number, atOnce = false): Promise<number> {
    const { ask, clock } = this.#options
    this.waitMs = 0
    if (ask === undefined) return wanted
    if (this.#left < (atOnce ? wanted : 1)) {
      const { granted, waitMs } = await ask({ wanted: wanted - this.#left, atOnce })
      if (granted === 0) {
        this.waitMs = Math.max(1, waitMs)
        return 0
      }
      if (waitMs > 0) await new Promise<void>((resolve) => void clock.after(waitMs, resolve))
      this.#left += granted
    }
    const given = Math.min(wanted, this.#left)
    this.#left -= given
    return given
  }

  /** Starts that were granted and did not happen. */
  giveBack(count: number): void {
    if (this.#options.ask !== undefined) this.#left += count
  }
}
