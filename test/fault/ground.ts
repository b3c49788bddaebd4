import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CronSchedule, cron, type EventName, type JobSettings } from '@cronce/core'
import { queuePrefix, registerJob } from '@cronce/store'
import { type RedisServer, type SpawnedProcess, spawnProcess } from '../support/index.ts'
import { openStage, type Stage } from '../support/worker-stage.ts'
import type { ReplicaConfig } from './programs/replica.ts'
import type { WorkerConfig } from './programs/worker.ts'

/** One thing that a handler of a worker process did, as it wrote it down before it could be killed. */
export interface Effect {
  readonly phase: 'start' | 'effect' | 'done'
  readonly slot: string
  readonly key: string
  readonly attempt: number
  readonly pid: number
  readonly at: number
}

/** A service with real processes on a test's Redis: replicas and workers that can be killed, and what workers did. */
export interface Ground extends Stage {
  /** A replica in a process of its own; leases and sweeps are scaled down. */
  replica(config: Partial<ReplicaConfig>): Promise<SpawnedProcess>
  /** A worker in a process of its own; locks and sweeps are scaled down. */
  worker(config: Partial<WorkerConfig> & Pick<WorkerConfig, 'jobs'>): Promise<SpawnedProcess>
  /** The rows that sources of worker processes read from now on. */
  setRows(keys: readonly string[]): Promise<void>
  /** Everything that worker processes wrote down so far, in order. */
  effects(phase: Effect['phase'], slot?: string): Promise<Effect[]>
  /** Registers a job at run time: every live replica fires it from its next sweep on. */
  register(job: JobSettings): Promise<void>
  /** Names of the crash points at which a process of this ground died. */
  casualties(): Promise<string[]>
  /** Ids of the tasks on a queue, whatever their state there. */
  queued(queue?: string): Promise<string[]>
}

/** Scaled-down timing of the replicas: promise 2 bounds a takeover by the sum of the two. */
export const CLAIM_LEASE_MS = 1_000
export const SWEEP_MS = 500

/** What a machine under load may add to a bound before a test calls it broken. */
export const SLACK_MS = 3_000

export async function openGround(server: RedisServer): Promise<Ground> {
  const stage = openStage(server)
  const folder = await mkdtemp(join(tmpdir(), 'cronce-fault-'))
  const [rows, effects, dead] = [join(folder, 'rows'), join(folder, 'effects'), join(folder, 'dead')]
  await Promise.all([writeFile(rows, ''), writeFile(effects, ''), mkdir(dead)])
  const spawned: SpawnedProcess[] = []
  let count = 0
  const start = async (program: string, config: object, ready: EventName): Promise<SpawnedProcess> => {
    const child = await spawnProcess({
      file: `test/fault/programs/${program}.ts`,
      args: [JSON.stringify({ ...config, service: stage.service, redis: server.url, casualties: dead })],
      ready: (line) => line.json?.['event'] === ready,
      timeoutMs: 30_000,
    })
    spawned.push(child)
    return child
  }
  return {
    ...stage,
    replica: (config) =>
      start(
        'replica',
        {
          ...{ id: `r-${(count += 1)}`, jobs: [], points: [], clockOffsetMs: 0 },
          ...{ claimLease: CLAIM_LEASE_MS, sweepEvery: SWEEP_MS, readdAfter: 1_500, heartbeatEvery: 1_000 },
          ...config,
        },
        'trigger.started',
      ),
    worker: (config) =>
      start(
        'worker',
        {
          ...{
            id: `w-${(count += 1)}`,
            queues: { default: 4 },
            rows,
            effects,
            delayMs: 0,
            acts: {},
            once: false,
            points: [],
          },
          ...{
            lock: 1_000,
            stalledEvery: 500,
            sweepEvery: 300,
            readdAfter: 1_500,
            settleEvery: 20,
            receiptLease: 1_000,
          },
          ...config,
        },
        'worker.started',
      ),
    async setRows(keys) {
      // Renamed, so that no source reads half of it.
      await writeFile(`${rows}.new`, keys.join('\n'))
      await rename(`${rows}.new`, rows)
    },
    async effects(phase, slot) {
      const lines = (await readFile(effects, 'utf8')).split('\n').filter((line) => line !== '')
      const all = lines.map((line) => JSON.parse(line) as Effect)
      return all.filter((effect) => effect.phase === phase && (slot === undefined || effect.slot === slot))
    },
    async register(job) {
      await registerJob(stage.store, job, { by: 'test', dynamic: true })
    },
    casualties: async () => (await readdir(dead)).map(decodeURIComponent).toSorted(),
    async queued(queue = 'default') {
      const base = `${queuePrefix(stage.service, queue)}:${queue}`
      const [waiting, active, delayed] = await Promise.all([
        stage.redis.lrange(`${base}:wait`, 0, -1),
        stage.redis.lrange(`${base}:active`, 0, -1),
        stage.redis.zrange(`${base}:delayed`, '0', '-1'),
      ])
      return [...waiting, ...active, ...delayed].toSorted()
    },
    async close() {
      await Promise.all(spawned.map((child) => child.kill()))
      await stage.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** A schedule with one slot, the first full second at least `inMs` from now; replicas have heard of the job by then. */
export function onceSoon(inMs = 1_500): { at: number; schedule: CronSchedule } {
  const at = Math.ceil((new Date().getTime() + inMs) / 1_000) * 1_000
  const when = new Date(at)
  const fields = [
    when.getUTCSeconds(),
    when.getUTCMinutes(),
    when.getUTCHours(),
    when.getUTCDate(),
    when.getUTCMonth() + 1,
  ]
  return { at, schedule: cron(`${fields.join(' ')} *`, { seconds: true }) }
}

/** Events of that name that a process told. */
export function told(child: SpawnedProcess, event: EventName, slot?: string): Readonly<Record<string, unknown>>[] {
  return child.lines.flatMap(({ json }) =>
    json?.['event'] === event && (slot === undefined || json['slot'] === slot) ? [json] : [],
  )
}

/** How often each key occurs. */
export function tally(keys: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
  return counts
}

/** The keys that occur more than once. */
export function repeated(keys: readonly string[]): string[] {
  return [...tally(keys)].filter(([, count]) => count > 1).map(([key]) => key)
}
