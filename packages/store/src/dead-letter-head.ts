import type { SlotId } from '@cronce/core'
import type { DeadLetter, KeptError } from './dead-letters.ts'
import { jobKey } from './keys.ts'
import type { Store } from './store.ts'

/** What a list of dead letters shows of one: without payload and stacks, the newest error only. */
export interface DeadLetterHead {
  readonly id: string
  readonly slotId: SlotId
  readonly entity: string | undefined
  readonly reason: string
  readonly state: DeadLetter['state']
  readonly attempts: number
  readonly lives: number
  readonly at: number
  readonly error: Pick<KeptError, 'name' | 'message' | 'at'> | undefined
}

const FIELDS = ['slot', 'entity', 'reason', 'state', 'attempts', 'lives', 'at'] as const

/** The heads of these dead letters, in their order; undefined for those that are not there. */
export async function readDeadLetterHeads(
  store: Store,
  job: string,
  ids: readonly string[],
): Promise<(DeadLetterHead | undefined)[]> {
  const base = jobKey(store.service, job)
  return await Promise.all(
    ids.map(async (id) => {
      const key = `${base}:dead:${id}`
      const [fields, newest] = await Promise.all([
        store.redis.hmget(key, ...FIELDS),
        store.redis.lindex(`${key}:errors`, 0),
      ])
      const [slot, entity, reason, state, attempts, lives, at] = fields
      if (slot === null || slot === undefined) return undefined
      return {
        id,
        slotId: slot as SlotId,
        entity: entity ?? undefined,
        reason: reason ?? '',
        state: (state ?? 'open') as DeadLetter['state'],
        attempts: Number(attempts ?? 0),
        lives: Number(lives ?? 0),
        at: Number(at ?? 0),
        error: newest === null ? undefined : readError(newest),
      }
    }),
  )
}

function readError(line: string): DeadLetterHead['error'] {
  const { name, message, at } = JSON.parse(line) as KeptError
  return { name, message, at }
}

/** Since when the oldest open dead letter of a job is one, epoch ms; undefined: there is none. */
export async function oldestDeadLetterAt(store: Store, job: string): Promise<number | undefined> {
  const [, at] = await store.redis.zrange(`${jobKey(store.service, job)}:dead`, '0', '0', 'WITHSCORES')
  return at === undefined ? undefined : Number(at)
}
