import type { CancelTimer, Clock, CronceError } from '@cronce/core'
import type { Attempt } from './attempt.ts'

/** How an attempt ended. */
export type AttemptEnd =
  | { readonly kind: 'done' }
  | { readonly kind: 'thrown' | 'timeout' | 'invalid'; readonly thrown: unknown }
  /** Its signal fired because the worker stops; whether its effect happened is not known. */
  | { readonly kind: 'aborted' }

export interface PoolOptions<A extends Attempt> {
  readonly clock: Clock
  readonly timeoutMs: number
  /** What the handler is called with. What it throws ends the attempt as invalid. */
  readonly read: (attempt: A) => unknown
  readonly call: (input: unknown, attempt: A) => unknown
  /** Called once per attempt, possibly before `start` returns. */
  readonly onEnd: (attempt: A, end: AttemptEnd) => void
}

/**
 * The attempts of one chunk that run now. One timer serves all their deadlines: armed for the earliest, looked at when it fires,
 * so that an entity costs no timer of its own.
 */
export class AttemptPool<A extends Attempt> {
  readonly #options: PoolOptions<A>
  readonly #running = new Set<A>()
  #cancelTimer: CancelTimer | undefined

  constructor(options: PoolOptions<A>) {
    this.#options = options
  }

  get size(): number {
    return this.#running.size
  }

  /** Those that run now. */
  get running(): readonly A[] {
    return [...this.#running]
  }

  start(attempt: A): void {
    const { clock, timeoutMs, read, call } = this.#options
    attempt.deadlineAt = clock.now() + timeoutMs
    this.#running.add(attempt)
    if (this.#cancelTimer === undefined) this.#arm(timeoutMs)
    let input: unknown
    try {
      input = read(attempt)
    } catch (thrown) {
      this.#end(attempt, { kind: 'invalid', thrown })
      return
    }
    let result: unknown
    try {
      result = call(input, attempt)
    } catch (thrown) {
      this.#end(attempt, { kind: 'thrown', thrown })
      return
    }
    if ((typeof result !== 'object' && typeof result !== 'function') || result === null) {
      this.#end(attempt, { kind: 'done' })
      return
    }
    // What settles after its attempt was ended is ignored, and is no unhandled rejection.
    void Promise.resolve(result).then(
      () => this.#end(attempt, { kind: 'done' }),
      (thrown: unknown) => this.#end(attempt, { kind: 'thrown', thrown }),
    )
  }

  /** Fires every signal. Those that end by themselves from here on end as they do; what they throw counts as the abort. */
  abort(why: CronceError): void {
    for (const attempt of this.#running) attempt.abort(why)
  }

  /** Ends what still runs, as aborted. */
  drop(why: CronceError): void {
    this.abort(why)
    for (const attempt of [...this.#running]) this.#end(attempt, { kind: 'aborted' })
  }

  #end(attempt: A, end: AttemptEnd): void {
    if (!this.#running.delete(attempt)) return
    if (this.#running.size === 0) this.#disarm()
    const isAborted = !attempt.isCurrent && end.kind === 'thrown'
    attempt.end()
    this.#options.onEnd(attempt, isAborted ? { kind: 'aborted' } : end)
  }

  #arm(delayMs: number): void {
    this.#cancelTimer = this.#options.clock.after(delayMs, () => this.#lookAtDeadlines())
  }

  #disarm(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
  }

  #lookAtDeadlines(): void {
    const { clock, timeoutMs } = this.#options
    const now = clock.now()
    this.#cancelTimer = undefined
    for (const attempt of [...this.#running]) {
      if (attempt.deadlineAt > now) continue
      const error = attempt.timedOut(timeoutMs)
      attempt.abort(error)
      this.#end(attempt, { kind: 'timeout', thrown: error })
    }
    let earliestAt = Number.POSITIVE_INFINITY
    for (const { deadlineAt } of this.#running) earliestAt = Math.min(earliestAt, deadlineAt)
    if (this.#running.size > 0 && this.#cancelTimer === undefined) this.#arm(Math.max(1, earliestAt - now))
  }
}
