import { readFileSync } from 'node:fs'
import { serviceKey } from './keys.ts'
import type { Store } from './store.ts'

/** A process that carries a trigger. */
export interface ReplicaPresence {
  readonly id: string
  readonly release: string
  readonly host: string
  readonly pid: number
  readonly startedAt: number
  /** Redis's now minus this process's, in ms: positive where its clock is behind. */
  readonly skewMs: number
  readonly jobs: number
  /** Lateness of its trigger loop's last tick, ms. */
  readonly loopLateMs: number
  readonly tzdata: string
  /** The definitions its image carries: job name to image. */
  readonly images: Readonly<Record<string, string>>
  /** How often it says that it lives, ms; after three silences it counts as gone. */
  readonly heartbeatMs?: number
}

/** A process that executes. */
export interface WorkerPresence {
  readonly id: string
  readonly release: string
  readonly host: string
  readonly pid: number
  readonly startedAt: number
  /** Queue to concurrency. */
  readonly queues: Readonly<Record<string, number>>
  /** Job name to the version of the payload its handler fits. */
  readonly handlers: Readonly<Record<string, number>>
  /** Chunks in its hands. */
  readonly active: number
  /** How often it says that it lives, ms; after three silences it counts as gone. */
  readonly heartbeatMs?: number
}

/** A presence as last heard of. */
export type Heard<Presence> = Presence & {
  readonly heardAt: number
  readonly leftAt?: number
  /** Of Cronce, not of the service; undefined: it did not say. */
  readonly version?: string
}

/** The packages are released together, with one version. */
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }

/** Who was not heard of for this long is forgotten. */
const FORGOTTEN_AFTER_MS = 24 * 3600 * 1000

type Kind = 'replicas' | 'workers'

/** Says that a replica lives. One command; sent at every heartbeat. */
export async function heartbeatReplica(store: Store, presence: ReplicaPresence, now: number): Promise<void> {
  await beat(store, 'replicas', { ...presence, heardAt: now })
}

/** Says that a worker lives. */
export async function heartbeatWorker(store: Store, presence: WorkerPresence, now: number): Promise<void> {
  await beat(store, 'workers', { ...presence, heardAt: now })
}

/**
 * A process that stops says so. Its last word stays for a while: a restart in the middle of a rollout must not look as if its
 * image were gone (T6).
 */
export async function leave(store: Store, kind: Kind, { id, now }: { id: string; now: number }): Promise<void> {
  const key = `${serviceKey(store.service)}:${kind}`
  const text = await store.redis.hget(key, id)
  if (text !== null) await store.redis.hset(key, id, JSON.stringify({ ...(JSON.parse(text) as object), leftAt: now }))
}

/** Replicas heard of since `since` (epoch ms), newest first; `leftAt` is set on those that said goodbye. */
export function listReplicas(store: Store, since: number): Promise<Heard<ReplicaPresence>[]> {
  return list<ReplicaPresence>(store, 'replicas', since)
}

/** Workers heard of since `since` (epoch ms), newest first; `leftAt` is set on those that said goodbye. */
export function listWorkers(store: Store, since: number): Promise<Heard<WorkerPresence>[]> {
  return list<WorkerPresence>(store, 'workers', since)
}

async function beat(store: Store, kind: Kind, presence: { id: string; heardAt: number }): Promise<void> {
  await store.redis.hset(`${serviceKey(store.service)}:${kind}`, presence.id, JSON.stringify({ ...presence, version }))
}

async function list<Presence>(store: Store, kind: Kind, since: number): Promise<Heard<Presence>[]> {
  const key = `${serviceKey(store.service)}:${kind}`
  const rows = Object.entries(await store.redis.hgetall(key)).map(([id, text]) => ({
    id,
    presence: JSON.parse(text) as Heard<Presence>,
  }))
  const forgotten = rows.filter(({ presence }) => presence.heardAt < since - FORGOTTEN_AFTER_MS)
  if (forgotten.length > 0) await store.redis.hdel(key, ...forgotten.map(({ id }) => id))
  return rows
    .map(({ presence }) => presence)
    .filter(({ heardAt }) => heardAt >= since)
    .toSorted((a, b) => b.heardAt - a.heardAt)
}
