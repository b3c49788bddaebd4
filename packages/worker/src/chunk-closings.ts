import type { ChunkHold } from '@cronce/store/postgres'

export interface ChunkClosingsOptions {
  readonly close: (holds: readonly ChunkHold[]) => Promise<void>
  readonly onError: (error: unknown) => void
}

/** How many are closed in one statement. */
const MOST_AT_ONCE = 100

/**
 * R3: chunks that were settled, on their way to be closed in Postgres: one statement at a time, each with all that came meanwhile. Nobody
 * waits for them: one that a crash or an outage keeps from being closed has its receipts all the same, and only folds later.
 */
export class ChunkClosings {
  readonly #options: ChunkClosingsOptions
  #waiting: ChunkHold[] = []
  #writing: Promise<void> | undefined

  constructor(options: ChunkClosingsOptions) {
    this.#options = options
  }

  add(hold: ChunkHold): void {
    this.#waiting.push(hold)
    this.#writing ??= this.#writeAll()
  }

  /** Waits until everything that was added is closed, or was tried. */
  async drain(): Promise<void> {
    await this.#writing
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const holds = this.#waiting.splice(0, MOST_AT_ONCE)
      await this.#options.close(holds).catch(this.#options.onError)
    }
    this.#writing = undefined
  }
}
