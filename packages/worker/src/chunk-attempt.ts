import { CronceError } from '@cronce/core'
import type { ChunkMember } from '@cronce/store'
import type { Logger } from 'pino'
import { Attempt, type AttemptScope } from './attempt.ts'
import type { ChunkContext } from './chunk-context.ts'
import { runChunkTransaction } from './chunk-transaction.ts'
import type { EntityContext } from './entity-context.ts'
import { formatIdempotencyKey } from './idempotency-key.ts'

/** An entity of a chunk, validated. */
export interface ValidMember {
  readonly member: ChunkMember
  readonly entity: unknown
}

/** One call of `eachChunk`, and the context it sees. */
export class ChunkAttempt extends Attempt implements ChunkContext<unknown> {
  readonly valid: readonly ValidMember[]
  readonly #keyOf: (entity: unknown) => string

  constructor(scope: AttemptScope, valid: readonly ValidMember[], keyOf: (entity: unknown) => string) {
    super(scope)
    this.valid = valid
    this.#keyOf = keyOf
  }

  get log(): Logger {
    return this.scope.log()
  }

  // Getters, so that a handler may take `{ transaction }` apart.
  get transaction(): ChunkContext<unknown>['transaction'] {
    return (effect, run) => runChunkTransaction(this.scope, this, { effect, run })
  }

  get idempotencyKey(): ChunkContext<unknown>['idempotencyKey'] {
    return (entity, effect) => formatIdempotencyKey(this.slot.key, this.#keyOf(entity), effect)
  }

  override timedOut(timeoutMs: number): CronceError {
    return new CronceError('CRONCE_CALL_TIMEOUT', { call: '`eachChunk`', timeoutMs })
  }

  protected override over(): CronceError {
    const entity = `${this.valid[0]?.member.key} and ${this.valid.length - 1} others`
    return new CronceError('CRONCE_ATTEMPT_OVER', { slot: this.slot.key, entity })
  }
}

type EachChunk = (entities: readonly unknown[], context: ChunkContext<unknown>) => unknown

/** `eachChunk` called with one entity: what stands in for `each` where there is none. */
export function eachAlone(eachChunk: EachChunk): (entity: unknown, context: EntityContext) => unknown {
  return (entity, context) => {
    const { slot, cause, log } = context
    return eachChunk([entity], {
      ...{ slot, cause, log },
      get signal() {
        return context.signal
      },
      async transaction(effect, run) {
        const { status } = await context.transaction(effect, (tx) => run(tx, [entity]))
        return status === 'done' ? { done: 1, skipped: 0 } : { done: 0, skipped: 1 }
      },
      idempotencyKey: (_, effect) => context.idempotencyKey(effect),
    })
  }
}
