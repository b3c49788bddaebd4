import { formatDeadLetterId, formatSlotKey, parseSlotId } from '@cronce/core'
import { jobKey, type RunRef, type Store } from '@cronce/store'

export interface ManyLetters {
  readonly count: number
  /** When the first of them died; each one later is a millisecond younger. */
  readonly fromAt: number
  /** The message of the newest error of each. */
  readonly message?: (index: number) => string
  /** What the handler gets of an entity. Default `{ id }`. */
  readonly payload?: (entity: string) => object
}

const AT_ONCE = 2_000

/** Entity of the letter at an index. */
export const entityOf = (index: number): string => `entity-${String(index).padStart(7, '0')}`

/**
 * Writes dead letters into a run that has ended, as many as no test can wait for to die, with the sums that the run would have.
 * Answers their ids, oldest first.
 */
export async function writeManyLetters(store: Store, run: RunRef, options: ManyLetters): Promise<string[]> {
  const { count, fromAt, message = () => 'HTTP 402', payload = (id) => ({ id }) } = options
  const base = jobKey(store.service, run.job)
  const slot = formatSlotKey({ job: run.job, ...(parseSlotId(run.id) ?? { at: 0 }) })
  const ids = Array.from({ length: count }, (_, index) => formatDeadLetterId(slot, entityOf(index)))
  for (let start = 0; start < count; start += AT_ONCE) {
    const pipeline = store.redis.pipeline()
    for (const [offset, id] of ids.slice(start, start + AT_ONCE).entries()) {
      const index = start + offset
      const at = fromAt + index
      const entity = entityOf(index)
      const error = { at, attempt: 1, name: 'Error', message: message(index), worker: 'w-1' }
      const fields = { id, slot: run.id, reason: 'failed', attempts: 1, lives: 1, worker: 'w-1', release: '1', at }
      pipeline.hset(`${base}:dead:${id}`, {
        ...fields,
        state: 'open',
        entity,
        payload: JSON.stringify(payload(entity)),
      })
      pipeline.rpush(`${base}:dead:${id}:errors`, JSON.stringify(error))
      pipeline.zadd(`${base}:dead`, at, id)
      pipeline.zadd(`${base}:dead:of:${run.id}`, at, id)
    }
    await pipeline.exec()
  }
  for (const field of ['planned', 'dead', 'letters']) await store.redis.hincrby(`${base}:slot:${run.id}`, field, count)
  return ids
}
