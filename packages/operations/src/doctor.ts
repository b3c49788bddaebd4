import {
  addressOf,
  judgeRedis,
  listJobNames,
  type RedisClient,
  type RedisFacts,
  readRedisFacts,
  readTime,
} from '@cronce/store'
import type { ServiceAccess } from './access.ts'
import type { Finding } from './finding.ts'
import { grouped } from './grouped.ts'
import { findJob } from './known-job.ts'
import { findingsOfOrphans, findOrphans, type Orphans } from './orphans.ts'
import { listPresence, type Presences } from './presence.ts'

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

/** The live processes that are alike in something: the service's release, the version of Cronce. */
export interface AlikeReport {
  /** Empty where they do not say. */
  readonly name: string
  readonly replicas: readonly string[]
  readonly workers: readonly string[]
}

/** What the processes, queues and keys of a service look like. */
export interface ServiceReport {
  readonly presences: Presences
  readonly releases: readonly AlikeReport[]
  /** Of Cronce. */
  readonly versions: readonly AlikeReport[]
  readonly queues: readonly QueueReport[]
  readonly orphans: Orphans
  readonly findings: readonly Finding[]
}

/** A clock that differs by more is a finding, ms; as triggers warn of it. */
export const SKEW_BOUND_MS = 1_000

export async function examineService(access: ServiceAccess): Promise<ServiceReport> {
  const presences = await listPresence(access.store)
  const queues = await examineQueues(access, presences)
  const releases = alike(presences, ({ release }) => release)
  const versions = alike(presences, ({ version = '' }) => version)
  const orphans = await findOrphans(access, {
    servedQueues: new Set(presences.workers.filter(isLive).flatMap((worker) => Object.keys(worker.queues))),
    jobQueues: new Set(queues.map(({ queue }) => queue)),
  })
  const findings = [
    ...findingsOfReplicas(presences),
    ...findingsOfReleases(releases),
    ...findingsOfVersions(versions),
    ...findingsOfQueues(queues),
    ...findingsOfOrphans(orphans),
  ]
  return { presences, releases, versions, queues, orphans, findings }
}

/** How far a clock is from Redis's, in ms: positive where it is behind. Half of the way there and back is taken off. */
export async function measureSkew({ store }: ServiceAccess, now: () => number): Promise<number> {
  const askedAt = now()
  const redisAt = await readTime(store)
  return redisAt - Math.round((askedAt + now()) / 2)
}

/** What there is to say of a clock that differs by so much. */
export function findingsOfSkew(whose: string, skewMs: number): Finding[] {
  if (Math.abs(skewMs) <= SKEW_BOUND_MS) return []
  return [
    {
      ...{ level: 'warning', name: 'skew', text: `the clock of ${whose} differs from Redis's by ${skewMs} ms` },
      fix: 'Redis decides what time it is, so no slot is wrong; set the clock by NTP, or logs and lateness mislead',
    },
  ]
}

async function examineQueues({ store, enqueuer }: ServiceAccess, { workers }: Presences): Promise<QueueReport[]> {
  const jobs = await Promise.all((await listJobNames(store)).map((name) => findJob(store, name)))
  const names = new Set(
    jobs.flatMap((job) => (job?.settings?.enqueue === undefined ? [job?.settings?.queue ?? []].flat() : [])),
  )
  const live = workers.filter(isLive)
  return await Promise.all(
    [...names].toSorted().map(async (queue) => ({
      queue,
      ...(await enqueuer.depth(queue)),
      workers: live.filter(({ queues }) => queue in queues).length,
    })),
  )
}

interface Named {
  readonly id: string
  readonly release: string
  readonly version?: string
}

function alike({ replicas, workers }: Presences, nameOf: (presence: Named) => string): AlikeReport[] {
  const of = (presences: Presences['replicas'] | Presences['workers']) =>
    grouped<Named>(presences.filter(isLive), nameOf)
  const [ofReplicas, ofWorkers] = [of(replicas), of(workers)]
  const ids = (group: readonly Named[] = []) => group.map(({ id }) => id)
  return [...new Set([...ofReplicas.keys(), ...ofWorkers.keys()])].toSorted().map((name) => {
    return { name, replicas: ids(ofReplicas.get(name)), workers: ids(ofWorkers.get(name)) }
  })
}

function isLive({ state }: { readonly state: string }): boolean {
  return state === 'live'
}

function findingsOfReplicas({ replicas }: Presences): Finding[] {
  const live = replicas.filter(isLive)
  if (live.length === 0) {
    const fix = 'start a replica that carries the jobs; `cronce replicas` shows who was heard of last'
    return [{ level: 'error', name: 'replicas', text: 'no trigger alive: nothing becomes due', fix }]
  }
  const versions = [...new Set(live.map(({ tzdata }) => tzdata))].toSorted()
  const differ = `replicas have different tzdata: ${versions.join(', ')}`
  const fix =
    'run one version of Node everywhere: where zones changed between the two, replicas compute different slots'
  return [
    ...live.flatMap(({ id, skewMs }) => findingsOfSkew(id, skewMs)),
    ...(versions.length < 2 ? [] : [{ level: 'warning', name: 'tzdata', text: differ, fix } as const]),
  ]
}

/** Processes that are named for a release; the rest is counted. */
const MOST_NAMED = 5

function sideBySide(reports: readonly AlikeReport[]): string {
  const parts = reports.map(({ name, replicas, workers }) => {
    const all = [...replicas, ...workers]
    const more = all.length > MOST_NAMED ? ` and ${all.length - MOST_NAMED} more` : ''
    return `${name === '' ? 'one that does not say' : name} (${all.slice(0, MOST_NAMED).join(', ')}${more})`
  })
  return `side by side: ${parts.join('; ')}`
}

function findingsOfReleases(releases: readonly AlikeReport[]): Finding[] {
  if (releases.length < 2) return []
  return [
    {
      ...{ level: 'warning', name: 'releases', text: `${releases.length} releases ${sideBySide(releases)}` },
      fix: 'nothing while a rollout is under way, old and new neither double nor drop; else finish it or roll it back',
    },
  ]
}

function findingsOfVersions(versions: readonly AlikeReport[]): Finding[] {
  if (versions.length < 2) return []
  return [
    {
      ...{ level: 'warning', name: 'versions', text: `${versions.length} versions of Cronce ${sideBySide(versions)}` },
      fix: 'finish the rollout before jobs use what only the newer version knows; the changelog says what that is',
    },
  ]
}

function findingsOfQueues(queues: readonly QueueReport[]): Finding[] {
  return queues
    .filter(({ workers }) => workers === 0)
    .map(({ queue, waiting }): Finding => {
      const tasks = waiting === 0 ? '' : `: ${waiting} ${waiting === 1 ? 'task waits' : 'tasks wait'}`
      return {
        ...{
          level: waiting > 0 ? 'error' : 'warning',
          name: 'queue',
          text: `no worker serves queue "${queue}"${tasks}`,
        },
        fix: `start a worker whose queues have "${queue}"`,
      }
    })
}
