import { CronceError } from '@cronce/core'
import type { ChunkMember } from '@cronce/store'
import type { Logger } from 'pino'
import { Attempt, type AttemptScope } from './attempt.ts'
import type { EntityContext } from './entity-context.ts'
import { formatIdempotencyKey } from './idempotency-key.ts'
import { type EffectHolder, runOnce } from './once.ts'
import { runTransaction } from './transaction.ts'

/** One attempt at one entity, and the context its handler sees. */
export class EntityAttempt extends Attempt implements EntityContext, EffectHolder {
  readonly member: ChunkMember
  readonly attempt: number
  #log: Logger | undefined
  #progress = 0

  constructor(scope: AttemptScope, member: ChunkMember) {
    super(scope)
    this.member = member
    this.attempt = member.attempts + 1
  }

  get log(): Logger {
    this.#log ??= this.scope.log().child({ entity: this.member.key, attempt: this.attempt })
    return this.#log
  }

  // Getters, so that a handler may take `{ once, progress }` apart.
  get progress(): (amount?: number) => void {
    return (amount = 1) => {
      this.#progress += amount
      const { events, slot } = this.scope
      events.emit('entity.progressed', { slot: slot.key, entity: this.member.key, amount: this.#progress })
    }
  }

  get once(): (effect: string, run: () => unknown) => Promise<'done' | 'skipped'> {
    return (effect, run) => runOnce(this.scope, this, { effect, run })
  }

  get transaction(): EntityContext['transaction'] {
    return (effect, run, request) => runTransaction(this.scope, this, { ...request, effect, run })
  }

  get idempotencyKey(): (effect: string) => string {
    return (effect) => formatIdempotencyKey(this.slot.key, this.member.key, effect)
  }

  override timedOut(timeoutMs: number): CronceError {
    return new CronceError('CRONCE_ENTITY_TIMEOUT', { entity: this.member.key, timeoutMs })
  }

  protected override over(): CronceError {
    return new CronceError('CRONCE_ATTEMPT_OVER', { slot: this.slot.key, entity: this.member.key })
  }
}
