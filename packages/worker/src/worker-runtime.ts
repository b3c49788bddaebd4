import { hostname } from 'node:os'
import { type Consumer, type ConsumerTrouble, consume, createEnqueuer } from '@cronce/queue'
import { createStore, heartbeatWorker, leave, readTime } from '@cronce/store'
import { postgresReceipts } from '@cronce/store/postgres'
import { createWatchdog, type ScheduleHealth, scheduleHealth } from '@cronce/watchdog'
import { waitAtMost } from './bounded-wait.ts'
import { ChunkClosings } from './chunk-closings.ts'
import { Dispatcher } from './dispatch.ts'
import { OpenSources } from './open-sources.ts'
import { startRounds } from './rounds.ts'
import { sweepOpenWork } from './sweep.ts'
import { openConnections } from './worker-connections.ts'
import type { WorkerContext } from './worker-context.ts'
import type { WorkerOptions } from './worker-options.ts'

/** Share of the pause between sweeps that is left to chance. */
const SWEEP_JITTER = 0.25

/** How long a connection has to say goodbye to the queue before it is cut, ms. */
const CLOSE_MS = 2_000

/** How often a stop looks whether the tasks in hand have ended, ms. */
const LOOK_MS = 20

/** A worker's connections, consumers and rounds, between its start and its stop. */
export interface Runtime {
  /** Tasks in hand. */
  readonly active: () => number
  /** What of the whole service is overdue. */
  overdue(): Promise<ScheduleHealth>
  /** W9: takes nothing more, waits, aborts, hands back, leaves. */
  stop(): Promise<'in time' | 'aborted'>
  /** Leaves now; the locks of tasks in hand run out. */
  abandon(): Promise<void>
}

/** What a runtime is opened with: the worker's context but for what the connections give. */
export type RuntimeParts = Omit<WorkerContext, 'store' | 'enqueuer' | 'postgres' | 'closings' | 'sources'>

/**
 * Opens the connections of a worker and begins to take tasks.
 *
 * @throws CronceError CRONCE_REDIS_KEY_PREFIX, CRONCE_REDIS_UNSAFE, CRONCE_REDIS_UNREACHABLE
 */
export async function openRuntime(options: WorkerOptions, parts: RuntimeParts): Promise<Runtime> {
  const { service, queues } = options
  const { clock, random, events, log, executor, handlers, timing, shutdown } = parts
  const connections = await openConnections(options, (text) => log.warn({ event: 'redis.unwise' }, text))
  const { producer, consumer } = connections
  const time = options.time === 'clock' ? { virtualTime: () => clock.now() } : {}
  // What must know soon that Redis is away: heartbeats and sweeps. What has nothing else to do waits for it: the steps.
  const soon = createStore({ redis: producer, service, ...time })
  const telemetry = options.telemetry?.()
  const enqueuer = createEnqueuer({ redis: producer, service, telemetry })
  const adapter = options.receipts?.postgres
  const postgres = adapter && postgresReceipts({ adapter, service, ...time })
  const store = createStore({ redis: consumer, service, ...time })
  const sources = new OpenSources(clock)
  const onError = (error: unknown) => events.emit('queue.troubled', { queue: '(store)', kind: 'error', error })
  const closings =
    postgres &&
    new ChunkClosings({
      close: (holds) => postgres.closeChunks(holds),
      onError: (error) => events.emit('queue.troubled', { queue: '(receipts)', kind: 'error', error }),
    })
  const context: WorkerContext = { ...parts, enqueuer, store, postgres, closings, sources }
  const dispatcher = new Dispatcher(context)
  const startedAt = clock.now()

  const onTrouble = (queue: string, { kind, taskId, error }: ConsumerTrouble) => {
    if (kind === 'lock-lost' && taskId !== undefined) dispatcher.recheck(taskId)
    const facts = { ...(taskId === undefined ? {} : { task: taskId }), ...(error === undefined ? {} : { error }) }
    events.emit('queue.troubled', { queue, kind, ...facts })
  }
  const consumers: Consumer[] = Object.entries(queues).map(([queue, concurrency]) =>
    consume({
      ...{ redis: consumer, service, clock, queue, concurrency, telemetry },
      lockMs: timing.lockMs,
      stalledEveryMs: timing.stalledEveryMs,
      process: (task) => dispatcher.process(task, queue),
      onTrouble: (trouble) => onTrouble(queue, trouble),
    }),
  )
  const self = {
    ...{ id: executor.worker, release: executor.release, host: hostname(), pid: process.pid, startedAt, queues },
    handlers: Object.fromEntries(Array.from(handlers.values(), ({ job }) => [job.name, job.version])),
    heartbeatMs: timing.heartbeatMs,
  }
  const stopRounds = [
    startRounds({
      ...{ clock, random, everyMs: timing.heartbeatMs, jitter: 0, onError },
      round: async () => heartbeatWorker(soon, { ...self, active: dispatcher.active }, await readTime(soon)),
    }),
    startRounds({
      ...{ clock, random, everyMs: timing.sweepMs, jitter: SWEEP_JITTER, onError },
      round: () => sweepOpenWork(context, soon),
    }),
  ]

  const watching = options.watchdog ?? {}
  const watchdog =
    watching === 'off'
      ? undefined
      : createWatchdog({ ...watching, store: soon, events, who: executor.worker, clock, random })
  watchdog?.start()

  const noLonger = (waitMs: number, what: Promise<unknown>) => waitAtMost(clock, waitMs, what)
  const idleWithin = async (waitMs: number): Promise<boolean> => {
    const until = clock.now() + waitMs
    const pause = new Promise<never>(() => undefined)
    while (dispatcher.active > 0 && clock.now() < until) await noLonger(LOOK_MS, pause)
    return dispatcher.active === 0
  }
  const goodbye = async () => {
    await Promise.all(consumers.map((each) => each.close()))
    await leave(soon, 'workers', { id: executor.worker, now: await readTime(soon) })
    await enqueuer.close()
  }

  return {
    active: () => dispatcher.active,
    overdue: () => scheduleHealth(soon),
    async stop() {
      shutdown.advance('draining')
      const rounds = Promise.all(stopRounds.map((stopRound) => stopRound()))
      await noLonger(CLOSE_MS, Promise.all(consumers.map((each) => each.pause())))
      const inTime = await idleWithin(timing.shutdownMs)
      if (!inTime) {
        shutdown.advance('aborting')
        await idleWithin(timing.abortGraceMs + CLOSE_MS)
      }
      sources.closeAll()
      // Runs that end while the worker drains are still told.
      await noLonger(CLOSE_MS, Promise.all([rounds, watchdog?.stop(), closings?.drain()]))
      await noLonger(CLOSE_MS, goodbye())
      connections.cut()
      return inTime ? 'in time' : 'aborted'
    },
    async abandon() {
      shutdown.advance('aborting')
      for (const stopRound of stopRounds) void stopRound()
      void watchdog?.stop()
      sources.closeAll()
      await noLonger(CLOSE_MS, Promise.all(consumers.map((each) => each.abandon())))
      connections.cut()
    },
  }
}
