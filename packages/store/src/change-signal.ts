import type { SlotId } from '@cronce/core'
import { jobKey, serviceKey } from './keys.ts'
import type { Store } from './store.ts'

/** What moves when something happens in a service, read without reading what happened. */
export interface ServiceSignal {
  /** Another text: a job was registered, changed or removed. */
  readonly definitions: string
  /** Jobs with runs under way, and those whose slots are looked at next, each with when: another text, another score. */
  readonly stirring: ReadonlyMap<string, string>
}

/** Unended slots of one job that its signal has the counts of. */
const MOST_UNENDED = 10

const COUNTS = [
  'state',
  'version',
  'planned',
  'done',
  'dead',
  'abandoned',
  'skipped',
  'startedBy',
  'claimedBy',
] as const

/** Three commands, however many jobs there are; at most `most` jobs of each kind. */
export async function readServiceSignal(store: Store, { most }: { most: number }): Promise<ServiceSignal> {
  const base = serviceKey(store.service)
  const [changes, watch, open] = await Promise.all([
    store.redis.get(`${base}:changes`),
    store.redis.zrange(`${base}:watch`, '0', String(most - 1), 'WITHSCORES'),
    store.redis.zrange(`${base}:open`, '0', String(most - 1), 'WITHSCORES'),
  ])
  const stirring = new Map<string, string>()
  for (const [set, rows] of [
    ['watch', watch],
    ['open', open],
  ] as const) {
    for (let index = 0; index < rows.length; index += 2) {
      const [job, score] = [rows[index] ?? '', rows[index + 1] ?? '']
      stirring.set(job, `${stirring.get(job) ?? ''} ${set} ${score}`)
    }
  }
  return { definitions: changes ?? '', stirring }
}

/** A text that is another one after anything that a view of the job shows. */
export async function readJobSignal(store: Store, job: string): Promise<string> {
  const { redis } = store
  const base = jobKey(store.service, job)
  const last = String(MOST_UNENDED - 1)
  const [newest, slots, gaps, dead, pause, open, active] = await Promise.all([
    redis.zrevrange(`${base}:slots`, '0', '0'),
    redis.zcard(`${base}:slots`),
    redis.zrevrange(`${base}:gaps`, '0', '0'),
    redis.zcard(`${base}:dead`),
    redis.hmget(`${base}:job`, 'image', 'generation', 'paused', 'pauseMissed', 'goneAt'),
    redis.zrange(`${base}:open`, '0', last),
    redis.zrange(`${base}:active`, '0', last),
  ])
  const unended = [...new Set([...newest, ...open, ...active])] as SlotId[]
  const counts = await Promise.all(unended.map((id) => redis.hmget(`${base}:slot:${id}`, ...COUNTS)))
  return JSON.stringify([newest, slots, gaps, dead, pause, unended, counts])
}
