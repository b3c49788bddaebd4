import { randomUUID } from 'node:crypto'
import { type CronceEvents, type EventName, type JobSettings, RUN_STATES } from '@cronce/core'
import { createEnqueuer, type Enqueuer } from '@cronce/queue'
import {
  connect,
  createStore,
  type LedgerEntry,
  type RedisClient,
  type RedisSource,
  type RunRef,
  readSlot,
  type Store,
} from '@cronce/store'
import { createWorker, type Handler, type Worker, type WorkerOptions } from '@cronce/worker'
import { pino } from 'pino'
import { type StartedRun, type StartRunOptions, startRun } from './start-run.ts'
import { waitUntil } from './wait-until.ts'

/** A worker, and all it told. */
export interface StagedWorker {
  readonly worker: Worker
  /** Facts of every event of that name so far. */
  readonly told: <Name extends EventName>(name: Name) => CronceEvents[Name][]
}

/** A service of its own on a test's Redis, with workers in this process. */
export interface Stage {
  readonly service: string
  readonly redis: RedisClient
  readonly store: Store
  readonly enqueuer: Enqueuer
  /** Makes and starts a worker of these handlers; short timings, silent. */
  work(handlers: readonly Handler[], options?: Partial<WorkerOptions>): Promise<StagedWorker>
  start(job: JobSettings, options?: Partial<StartRunOptions>): Promise<StartedRun>
  read(run: RunRef): Promise<LedgerEntry>
  /** Waits for the end of a run, by default its first. */
  ended(run: RunRef, options?: { version?: number; timeoutMs?: number }): Promise<LedgerEntry>
  /** Stops every worker and closes the connections. */
  close(): Promise<void>
}

export function openStage(server: { readonly url: RedisSource }): Stage {
  const service = `test-${randomUUID().slice(0, 8)}`
  const redis = connect(server.url, 'producer')
  // A test may take Redis away.
  redis.on('error', () => undefined)
  const store = createStore({ redis, service })
  const enqueuer = createEnqueuer({ redis, service })
  const workers: Worker[] = []
  const read = async (run: RunRef): Promise<LedgerEntry> => {
    const entry = await readSlot(store, run.job, run.id)
    if (entry === undefined) throw new Error(`no record of ${run.id}`)
    return entry
  }
  return {
    service,
    redis,
    store,
    enqueuer,
    read,
    async work(handlers, options = {}) {
      const told = new Map<EventName, unknown[]>()
      const worker = createWorker({
        ...{
          service,
          handlers,
          redis: server.url,
          queues: { default: 4 },
          logger: pino({ level: 'silent' }),
          id: `w-${workers.length + 1}`,
        },
        ...{
          lock: '2s',
          stalledEvery: '1s',
          sweepEvery: '200ms',
          readdAfter: '2s',
          receiptLease: '1s',
          settleEvery: '50ms',
        },
        ...options,
      })
      worker.events.onAny((name, facts) => void told.set(name, [...(told.get(name) ?? []), facts]))
      workers.push(worker)
      await worker.start()
      return { worker, told: <Name extends EventName>(name: Name) => (told.get(name) ?? []) as CronceEvents[Name][] }
    },
    start: (job, options) => startRun(job, { store, enqueuer, ...options }),
    ended: (run, { version = 1, timeoutMs = 15_000 } = {}) =>
      waitUntil(
        async () => {
          const entry = await read(run)
          return RUN_STATES[entry.state] === 'ended' && entry.version >= version ? entry : undefined
        },
        { message: `the end of ${run.job} ${run.id}`, timeoutMs },
      ),
    async close() {
      await Promise.all(workers.map((worker) => worker.stop()))
      await enqueuer.close()
      redis.disconnect()
    },
  }
}
