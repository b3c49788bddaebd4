import type { ChunkAttempt } from './chunk-attempt.ts'
import type { ChunkTransactionOutcome } from './chunk-context.ts'
import { checkEffect } from './idempotency-key.ts'
import type { EffectScope } from './once.ts'
import { type Transaction, untilTheirs } from './transaction.ts'

interface Asked {
  readonly effect: string
  readonly run: (tx: Transaction, entities: readonly unknown[]) => unknown
}

/** R2: runs an effect for the entities of one call in one transaction with their receipts, for those that have none. */
export async function runChunkTransaction(
  scope: EffectScope,
  attempt: ChunkAttempt,
  { effect, run }: Asked,
): Promise<ChunkTransactionOutcome> {
  checkEffect(effect)
  const { run: ref, chunk, receiptFence: fence } = scope
  const { valid } = attempt
  const keys = valid.map(({ member }) => member.key)
  const work = async (tx: unknown, taken: readonly number[]): Promise<void> => {
    // Of a call that is over by now, nothing is begun, and nothing committed.
    attempt.assertCurrent()
    const left = taken.length === valid.length ? valid : taken.flatMap((index) => valid[index] ?? [])
    await run(
      tx as Transaction,
      left.map(({ entity }) => entity),
    )
    attempt.assertCurrent()
  }
  const entities = { ...ref, chunk, entities: keys, effect }
  const answer = await untilTheirs(scope, attempt, {
    effect,
    ask: ({ store, idleMs }) => store.transactionOfMany(entities, { fence, idleMs, token: scope.token() }, work),
  })
  const done = answer.taken.length
  if (done < valid.length) {
    const taken = new Set(answer.taken)
    for (const [index, entity] of keys.entries()) {
      if (!taken.has(index)) scope.events.emit('receipt.hit', { slot: scope.slot.key, entity, effect })
    }
  }
  return { done, skipped: valid.length - done }
}
