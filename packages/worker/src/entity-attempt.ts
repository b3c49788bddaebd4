import { type Cause, type Clock, CronceError, type EventEmitter } from '@cronce/core'
import type { ChunkMember } from '@cronce/store'
import type { Logger } from 'pino'
import type { EntityContext } from './entity-context.ts'
import { formatIdempotencyKey } from './idempotency-key.ts'
import { type EffectHolder, type EffectScope, runOnce } from './once.ts'
import type { RunSlot } from './run-slot.ts'
import { runTransaction } from './transaction.ts'

/** What the attempts of one chunk share. */
export interface AttemptScope extends EffectScope {
  readonly slot: RunSlot
  readonly cause: Cause
  readonly clock: Clock
  readonly events: EventEmitter
  readonly log: () => Logger
}

/**
 * One attempt at one entity, and the context its handler sees. There may be a hundred thousand of them a second, so what a handler
 * may never touch (signal, logger, closures) is made when it is touched.
 */
export class EntityAttempt implements EntityContext, EffectHolder {
  readonly member: ChunkMember
  readonly attempt: number
  /** When its time is over. Moves while it waits for another's effect (R1). */
  deadlineAt = 0
  readonly #scope: AttemptScope
  #controller: AbortController | undefined
  #standing: 'current' | 'ended' | CronceError = 'current'
  #log: Logger | undefined
  #progress = 0

  constructor(scope: AttemptScope, member: ChunkMember) {
    this.#scope = scope
    this.member = member
    this.attempt = member.attempts + 1
  }

  get slot(): RunSlot {
    return this.#scope.slot
  }

  get cause(): Cause {
    return this.#scope.cause
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#standing !== 'current') this.#controller.abort(this.#why)
    return this.#controller.signal
  }

  get log(): Logger {
    this.#log ??= this.#scope.log().child({ entity: this.member.key, attempt: this.attempt })
    return this.#log
  }

  // Getters, so that a handler may take `{ once, progress }` apart.
  get progress(): (amount?: number) => void {
    return (amount = 1) => {
      this.#progress += amount
      const { events, slot } = this.#scope
      events.emit('entity.progressed', { slot: slot.key, entity: this.member.key, amount: this.#progress })
    }
  }

  get once(): (effect: string, run: () => unknown) => Promise<'done' | 'skipped'> {
    return (effect, run) => runOnce(this.#scope, this, { effect, run })
  }

  get transaction(): EntityContext['transaction'] {
    return (effect, run, request) => runTransaction(this.#scope, this, { ...request, effect, run })
  }

  get idempotencyKey(): (effect: string) => string {
    return (effect) => formatIdempotencyKey(this.#scope.slot.key, this.member.key, effect)
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
    if (this.#standing instanceof CronceError) return this.#standing
    return new CronceError('CRONCE_ATTEMPT_OVER', { slot: this.slot.key, entity: this.member.key })
  }

  /** Waits, off its own clock. Ends early when the attempt is aborted. */
  async pause(delayMs: number, waitedMs = 0): Promise<void> {
    const { clock } = this.#scope
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
