import { type Cause, type Clock, CronceError, type EventEmitter } from '@cronce/core'
import type { Logger } from 'pino'
import type { EffectScope } from './once.ts'
import type { RunSlot } from './run-slot.ts'

/** What the attempts of one chunk share. */
export interface AttemptScope extends EffectScope {
  readonly slot: RunSlot
  readonly cause: Cause
  readonly clock: Clock
  readonly events: EventEmitter
  readonly log: () => Logger
}

/**
 * One call of a handler, of one entity or of a whole chunk: whether it may still start effects, and when its time is over. There may
 * be a hundred thousand of them a second, so what a handler may never touch (signal, logger, closures) is made when it is touched.
 */
export abstract class Attempt {
  /** When its time is over. Moves while it waits for another's effect (R1). */
  deadlineAt = 0
  readonly scope: AttemptScope
  #controller: AbortController | undefined
  #standing: 'current' | 'ended' | CronceError = 'current'

  constructor(scope: AttemptScope) {
    this.scope = scope
  }

  /** Why it is over, where its time is. */
  abstract timedOut(timeoutMs: number): CronceError
  /** Why an effect is refused that it starts after its end. */
  protected abstract over(): CronceError

  get slot(): RunSlot {
    return this.scope.slot
  }

  get cause(): Cause {
    return this.scope.cause
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#standing !== 'current') this.#controller.abort(this.#why)
    return this.#controller.signal
  }

  /** Whether it may still start effects. */
  get isCurrent(): boolean {
    return this.#standing === 'current'
  }

  /** @throws CronceError why it may not */
  assertCurrent(): void {
    if (this.#standing !== 'current') throw this.#why
  }

  /** It is over: timed out, shut down or fenced off. */
  abort(why: CronceError): void {
    if (this.#standing !== 'current') return
    this.#standing = why
    this.#controller?.abort(why)
  }

  /** It has ended; what of it still runs starts no effect. */
  end(): void {
    if (this.#standing === 'current') this.#standing = 'ended'
  }

  /** Made when it is asked for: an error costs a stack, and most attempts just end. */
  get #why(): CronceError {
    return this.#standing instanceof CronceError ? this.#standing : this.over()
  }

  /** Waits, off its own clock. Ends early when the attempt is aborted. */
  async pause(delayMs: number, waitedMs = 0): Promise<void> {
    const { clock } = this.scope
    const { signal } = this
    const from = clock.now()
    this.deadlineAt += delayMs + waitedMs
    await new Promise<void>((resolve) => {
      const wake = () => {
        cancel()
        signal.removeEventListener('abort', wake)
        resolve()
      }
      const cancel = clock.after(delayMs, wake)
      if (signal.aborted) wake()
      else signal.addEventListener('abort', wake)
    })
    this.deadlineAt -= Math.max(0, delayMs - (clock.now() - from))
  }
}
