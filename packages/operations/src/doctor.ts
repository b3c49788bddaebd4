import {
  addressOf,
  judgeRedis,
  listJobNames,
  type RedisClient,
  type RedisFacts,
  readRedisFacts,
  readTime,
  type SafetyFinding,
} from '@cronce/store'
import type { ServiceAccess } from './access.ts'
import { findJob } from './known-job.ts'
import { listPresence, type Presences } from './presence.ts'

export interface Finding {
  /** `error`: can lose, double or hold up a run. */
  readonly level: 'error' | 'warning'
  readonly name: SafetyFinding['name'] | 'skew' | 'tzdata' | 'replicas' | 'queue'
  readonly text: string
}

/** What Redis says of itself, and what is unsafe or unwise about it. */
export interface RedisReport {
  readonly address: string
  readonly facts: RedisFacts
  readonly findings: readonly Finding[]
}

export async function examineRedis(redis: RedisClient): Promise<RedisReport> {
  const facts = await readRedisFacts(redis)
  return { address: addressOf(redis), facts, findings: judgeRedis(facts) }
}

export interface QueueReport {
  readonly queue: string
  readonly waiting: number
  readonly active: number
  readonly delayed: number
  /** Live workers that serve it. */
  readonly workers: number
}

/** What the processes and queues of a service look like. */
export interface ServiceReport {
  readonly presences: Presences
  readonly queues: readonly QueueReport[]
  readonly findings: readonly Finding[]
}

/** A clock that differs by more is a finding, ms; as triggers warn of it. */
export const SKEW_BOUND_MS = 1_000

export async function examineService(access: ServiceAccess): Promise<ServiceReport> {
  const presences = await listPresence(access.store)
  const queues = await examineQueues(access, presences)
  return { presences, queues, findings: [...findingsOfReplicas(presences), ...findingsOfQueues(queues)] }
}

/** How far a clock is from Redis's, in ms: positive where it is behind. Half of the way there and back is taken off. */
export async function measureSkew({ store }: ServiceAccess, now: () => number): Promise<number> {
  const askedAt = now()
  const redisAt = await readTime(store)
  return redisAt - Math.round((askedAt + now()) / 2)
}

async function examineQueues({ store, enqueuer }: ServiceAccess, { workers }: Presences): Promise<QueueReport[]> {
  const jobs = await Promise.all((await listJobNames(store)).map((name) => findJob(store, name)))
  const names = new Set(
    jobs.flatMap((job) => (job?.settings?.enqueue === undefined ? [job?.settings?.queue ?? []].flat() : [])),
  )
  const live = workers.filter(({ state }) => state === 'live')
  return await Promise.all(
    [...names].toSorted().map(async (queue) => ({
      queue,
      ...(await enqueuer.depth(queue)),
      workers: live.filter(({ queues }) => queue in queues).length,
    })),
  )
}

function findingsOfReplicas({ replicas }: Presences): Finding[] {
  const live = replicas.filter(({ state }) => state === 'live')
  if (live.length === 0) return [{ level: 'error', name: 'replicas', text: 'no trigger alive: nothing becomes due' }]
  const skewed = live.filter(({ skewMs }) => Math.abs(skewMs) > SKEW_BOUND_MS)
  const versions = [...new Set(live.map(({ tzdata }) => tzdata))]
  return [
    ...skewed.map(
      ({ id, skewMs }): Finding => ({
        level: 'warning',
        name: 'skew',
        text: `the clock of ${id} differs from Redis's by ${skewMs} ms`,
      }),
    ),
    ...(versions.length < 2
      ? []
      : [
          { level: 'warning', name: 'tzdata', text: `replicas have different tzdata: ${versions.join(', ')}` } as const,
        ]),
  ]
}

function findingsOfQueues(queues: readonly QueueReport[]): Finding[] {
  return queues
    .filter(({ workers }) => workers === 0)
    .map(({ queue, waiting }) => ({
      level: waiting > 0 ? 'error' : 'warning',
      name: 'queue',
      text: `no worker serves queue "${queue}"${waiting > 0 ? `: ${waiting} ${waiting === 1 ? 'task waits' : 'tasks wait'}` : ''}`,
    }))
}
