import type { CancelTimer, Clock } from '@cronce/core'
import type { MemberFailure, Settled } from '@cronce/store'

/** What one write carries. */
export interface SettlePart {
  readonly done: readonly number[]
  readonly failures: readonly MemberFailure[]
  /** Entities that are about to start, or still run alone: their durable mark. */
  readonly started: readonly number[]
  /** Whether the started one runs alone after a crash. */
  readonly alone: boolean
  readonly handBack: boolean
}

export interface SettleBufferOptions {
  readonly clock: Clock
  /** Outcomes wait no longer than this to be written. */
  readonly everyMs: number
  readonly write: (part: SettlePart) => Promise<Settled>
  /** A write by the timer failed for good. */
  readonly onTrouble: (error: unknown) => void
}

/** The most text of failures in one write, in characters: one script writes it, and must stay well under 100 ms. */
const MOST_FAILURE_TEXT = 1024 * 1024

/** Outcomes of a chunk on their way to the store: gathered, written in order, one write at a time (W4, W7). */
export class SettleBuffer {
  readonly #options: SettleBufferOptions
  #done: number[] = []
  #failures: MemberFailure[] = []
  #tail: Promise<unknown> = Promise.resolve()
  #cancelTimer: CancelTimer | undefined
  /** What the store answered last. */
  last: Settled | undefined

  constructor(options: SettleBufferOptions) {
    this.#options = options
  }

  /** Outcomes not yet on their way. */
  get size(): number {
    return this.#done.length + this.#failures.length
  }

  addDone(index: number): void {
    this.#done.push(index)
    this.#arm()
  }

  addFailure(failure: MemberFailure): void {
    this.#failures.push(failure)
    this.#arm()
  }

  /** Writes what is gathered, and with it these marks; after the writes before it. */
  flush(extra: Partial<Pick<SettlePart, 'started' | 'alone' | 'handBack'>> = {}): Promise<Settled> {
    const write = this.#tail.then(() => this.#write(extra))
    this.#tail = write.catch(() => undefined)
    return write
  }

  /** Writes nothing further by itself. */
  close(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
  }

  async #write({ started = [], alone = false, handBack = false }: Partial<SettlePart>): Promise<Settled> {
    this.close()
    // Nothing is left to write to; the store would answer that it is gone.
    if (this.last?.status === 'closed') return this.last
    const done = this.#done
    const parts = inParts(this.#failures)
    this.#done = []
    this.#failures = []
    const final = parts.pop() ?? []
    for (const failures of parts) {
      this.last = await this.#options.write({ done: [], failures, started: [], alone: false, handBack: false })
      if (this.last.status !== 'open') return this.last
    }
    this.last = await this.#options.write({ done, failures: final, started, alone, handBack })
    return this.last
  }

  #arm(): void {
    const { clock, everyMs, onTrouble } = this.#options
    this.#cancelTimer ??= clock.after(everyMs, () => {
      this.#cancelTimer = undefined
      this.flush().catch(onTrouble)
    })
  }
}

function inParts(failures: readonly MemberFailure[]): MemberFailure[][] {
  const parts: MemberFailure[][] = []
  let size = MOST_FAILURE_TEXT
  for (const failure of failures) {
    size += failure.payload.length + failure.error.length
    if (size >= MOST_FAILURE_TEXT) {
      parts.push([])
      size = failure.payload.length + failure.error.length
    }
    parts.at(-1)?.push(failure)
  }
  return parts
}
