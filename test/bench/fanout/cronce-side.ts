import { type JobSettings, RUN_STATES } from '@cronce/core'
import { createEnqueuer } from '@cronce/queue'
import { connect, createStore, type RedisClient, type RunRef, readSlot } from '@cronce/store'
import { spawnProcess, startRedis, waitUntil } from '../../support/index.ts'
import { startRun } from '../../support/start-run.ts'
import { noopJob, SERVICE } from './accounts.ts'
import { cpuMs, redisUse, rssBytes } from './machine-use.ts'
import { LOOK_EVERY_MS, type Round, type Side, WORKERS } from './side.ts'

/** Runs have instants of their own, whose last eight digits are the number of entities. */
const INSTANT_STEP_MS = 100_000_000

export interface CronceSideOptions {
  /** Default: the no-op job. */
  readonly job?: JobSettings
  /** Flags of node for the workers, such as `--cpu-prof`. */
  readonly nodeArgs?: readonly string[]
  /** Where receipts are. Default: in Redis. */
  readonly postgresUrl?: string | undefined
}

/** Cronce's side, which can be looked into while it runs. */
export interface CronceSide extends Side {
  readonly redis: RedisClient
  readonly workerPids: readonly number[]
  run(entities: number): Promise<Round & { readonly run: RunRef }>
}

/** Cronce: the run is planned, executed and settled by two workers; this process only starts it and looks. */
export async function openCronceSide({
  job = noopJob,
  nodeArgs = [],
  postgresUrl,
}: CronceSideOptions = {}): Promise<CronceSide> {
  const server = await startRedis()
  const redis = connect(server.url, 'consumer')
  const store = createStore({ redis, service: SERVICE })
  const enqueuer = createEnqueuer({ redis, service: SERVICE })
  const workers = await Promise.all(
    Array.from({ length: WORKERS }, () =>
      spawnProcess({
        ...{
          file: new URL('cronce-worker.ts', import.meta.url),
          args: [server.url, ...(postgresUrl === undefined ? [] : [postgresUrl])],
          ready: 'ready',
          nodeArgs,
          packages: 'built',
        },
      }),
    ),
  )
  const { pid } = await redisUse(redis)
  const pids = [process.pid, pid, ...workers.map((worker) => worker.pid)]
  let step = 17_000

  return {
    redis,
    workerPids: workers.map((worker) => worker.pid),
    async run(entities) {
      step += 1
      const [startedAt, cpuBefore] = [performance.now(), cpuMs(pids)]
      const run = await startRun(job, { store, enqueuer, at: step * INSTANT_STEP_MS + entities })
      const entry = await waitUntil(
        async () => {
          const found = await readSlot(store, run.job, run.id)
          return found !== undefined && RUN_STATES[found.state] === 'ended' && found
        },
        { message: 'the end of the run', timeoutMs: 600_000, everyMs: LOOK_EVERY_MS },
      )
      const round = { run, entities, tookMs: performance.now() - startedAt, cpuMs: cpuMs(pids) - cpuBefore }
      if (entry.state !== 'succeeded' || entry.entities.done !== entities)
        throw new Error(`${run.id}: ${entry.state}, ${entry.entities.done} of ${entities} done`)
      return round
    },
    async peak() {
      const { peakBytes } = await redisUse(redis)
      return { redisBytes: peakBytes, rssBytes: Math.max(...workers.map((worker) => rssBytes(worker.pid).peak)) }
    },
    async close() {
      await Promise.all(workers.map((worker) => worker.kill('SIGTERM')))
      await enqueuer.close()
      redis.disconnect()
      await server.stop()
    },
  }
}
