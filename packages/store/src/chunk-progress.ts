import type { SlotId } from '@cronce/core'
import { jobKey } from './keys.ts'
import type { Store } from './store.ts'

/** How far the chunks of a run are. */
export interface ChunkProgress {
  /** Chunks that the plan wrote so far. */
  readonly written: number
  readonly closed: number
  /** Whether the plan has its last page; until then there are more chunks to come. */
  readonly plan: 'complete' | 'failed' | 'under-way'
  /** The oldest of the chunks that are open, at most {@link MOST_OPEN_CHUNKS}. */
  readonly open: readonly OpenChunk[]
  /** How many are open. */
  readonly openCount: number
}

/** One chunk that has not closed. */
export interface OpenChunk {
  readonly number: number
  /** When it was last heard of, epoch ms. */
  readonly heardAt: number
  readonly entities: number
  /** Entities without an outcome. */
  readonly left: number
  readonly crashes: number
  /** Who holds it, or held it last; undefined before its first start. */
  readonly worker: string | undefined
}

/** Open chunks that are read one by one. */
export const MOST_OPEN_CHUNKS = 20

/** The plan and the open chunks of a run; undefined where it has no plan: not started yet, or forgotten. */
export async function readChunkProgress(store: Store, job: string, id: SlotId): Promise<ChunkProgress | undefined> {
  const { redis } = store
  const base = jobKey(store.service, job)
  const chunks = `${base}:chunks:${id}`
  const [plan, openCount, rows] = await Promise.all([
    redis.hmget(`${base}:plan:${id}`, 'written', 'closed', 'complete', 'failed'),
    redis.zcard(chunks),
    redis.zrange(chunks, '0', String(MOST_OPEN_CHUNKS - 1), 'WITHSCORES'),
  ])
  const [written, closed, complete, failed] = plan
  if (plan.every((value) => value === null)) return undefined
  const open: Promise<OpenChunk | undefined>[] = []
  for (let index = 0; index < rows.length; index += 2) {
    const [number, heardAt] = [Number(rows[index]), Number(rows[index + 1])]
    open.push(readOpenChunk(store, `${base}:chunk:${id}:${number}`, { number, heardAt }))
  }
  return {
    written: Number(written ?? 0),
    closed: Number(closed ?? 0),
    plan: failed === '1' ? 'failed' : complete === '1' ? 'complete' : 'under-way',
    open: (await Promise.all(open)).filter((chunk) => chunk !== undefined),
    openCount,
  }
}

async function readOpenChunk(
  store: Store,
  key: string,
  { number, heardAt }: Pick<OpenChunk, 'number' | 'heardAt'>,
): Promise<OpenChunk | undefined> {
  // Not its members: their payloads may be large, and are not asked for.
  const [left, states, crashes, holder] = await store.redis.hmget(key, 'left', 'states', 'crashes', 'holder')
  if (left === undefined || left === null) return undefined
  const entities = states?.length ?? 0
  const worker = holder === null || holder === '' ? undefined : holder
  return { number, heardAt, entities, left: Number(left), crashes: Number(crashes ?? 0), worker }
}
