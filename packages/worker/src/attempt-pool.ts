import { type CancelTimer, type Clock, CronceError, type EntityShape } from '@cronce/core'
import type { EntityAttempt } from './entity-attempt.ts'
import type { EntityContext } from './entity-context.ts'

/** How an attempt ended. */
export type AttemptEnd =
  | { readonly kind: 'done' }
  | { readonly kind: 'thrown' | 'timeout' | 'invalid'; readonly thrown: unknown }
  /** Its signal fired because the worker stops; whether its effect happened is not known. */
  | { readonly kind: 'aborted' }

export interface PoolOptions {
  readonly clock: Clock
  readonly timeoutMs: number
  readonly shape: EntityShape<unknown>
  readonly each: (entity: unknown, context: EntityContext) => unknown
  /** Called once per attempt, possibly before `start` returns. */
  readonly onEnd: (attempt: EntityAttempt, end: AttemptEnd) => void
}

/**
 * The attempts of one chunk that run now. One timer serves all their deadlines: armed for the earliest, looked at when it fires,
 * so that an entity costs no timer of its own.
 */
export class AttemptPool {
  readonly #options: PoolOptions
  readonly #running = new Set<EntityAttempt>()
  #cancelTimer: CancelTimer | undefined

  constructor(options: PoolOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#running.size
  }

  /** Indexes of the entities that run now. */
  get running(): number[] {
    return Array.from(this.#running, ({ member }) => member.index)
  }

  start(attempt: EntityAttempt): void {
    const { clock, timeoutMs, shape, each } = this.#options
    attempt.deadlineAt = clock.now() + timeoutMs
    this.#running.add(attempt)
    if (this.#cancelTimer === undefined) this.#arm(timeoutMs)
    let entity: unknown
    try {
      entity = shape.parse(attempt.member.payload)
    } catch (thrown) {
      this.#end(attempt, { kind: 'invalid', thrown })
      return
    }
    let result: unknown
    try {
      result = each(entity, attempt)
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

  #end(attempt: EntityAttempt, end: AttemptEnd): void {
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
      const error = new CronceError('CRONCE_ENTITY_TIMEOUT', { entity: attempt.member.key, timeoutMs })
      attempt.abort(error)
      this.#end(attempt, { kind: 'timeout', thrown: error })
    }
    let earliestAt = Number.POSITIVE_INFINITY
    for (const { deadlineAt } of this.#running) earliestAt = Math.min(earliestAt, deadlineAt)
    if (this.#running.size > 0 && this.#cancelTimer === undefined) this.#arm(Math.max(1, earliestAt - now))
  }
}
