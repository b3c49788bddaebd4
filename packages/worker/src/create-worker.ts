import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { CronceError, createEmitter, type EventSource, systemClock, systemRandom, writeLogLine } from '@cronce/core'
import type { ScheduleHealth } from '@cronce/watchdog'
import { pino } from 'pino'
import { Shutdown } from './shutdown.ts'
import { checkOptions, type WorkerOptions } from './worker-options.ts'
import { openRuntime, type Runtime } from './worker-runtime.ts'
import { readTiming } from './worker-timing.ts'

/** Where payloads would be, were anyone to log them: belt and braces for the default logger. */
const REDACTED = ['payload', '*.payload']

/** A process's share in executing a service's runs. */
export interface Worker {
  readonly id: string
  readonly events: EventSource
  /**
   * Begins to take tasks. Idempotent.
   *
   * @throws CronceError CRONCE_REDIS_UNSAFE, CRONCE_REDIS_KEY_PREFIX, CRONCE_WORKER_STOPPED; CRONCE_REDIS_UNREACHABLE, and then
   *   `start` may be called again
   */
  start(): Promise<void>
  /**
   * Takes no more, waits for what runs up to `shutdownTimeout`, then aborts it and hands back what did not finish, without using up
   * an attempt. Idempotent; `force` leaves now, also while another stop waits: what was in hand is taken over when its lock ends.
   */
  stop(options?: { readonly force?: boolean }): Promise<void>
  health(): WorkerHealth
  /** What of the whole service is overdue now. Rejects where this worker does not run, and where Redis is out of reach. */
  overdue(): Promise<ScheduleHealth>
}

export interface WorkerHealth {
  readonly state: 'created' | 'starting' | 'running' | 'stopping' | 'stopped'
  /** Tasks in hand. */
  readonly active: number
  readonly queues: Readonly<Record<string, number>>
}

/**
 * Makes a worker: it plans runs, executes their entities and settles them.
 *
 * @throws CronceError CRONCE_WORKER_INVALID, whose `faults` has every fault of the options
 * @example
 * const worker = createWorker({ service: 'billing-api', handlers, redis: 'redis://127.0.0.1:6379', queues: { billing: 10 } })
 * await worker.start()
 * // ... and when the process is told to stop:
 * await worker.stop()
 */
export function createWorker(options: WorkerOptions): Worker {
  checkOptions(options)
  const { service, queues, release = 'unknown', clock = systemClock, random = systemRandom } = options
  const id = options.id ?? `${hostname()}-${process.pid}-${randomUUID().slice(0, 4)}`
  const log = (options.logger ?? pino({ redact: REDACTED })).child({ service, worker: id })
  const events = createEmitter()
  events.onAny((name, facts) => writeLogLine(log, name, facts))
  const shutdown = new Shutdown()
  // A process that is started again under the same id must not take the tokens of the one before it.
  const life = randomUUID().slice(0, 8)
  let tokens = 0
  let state: WorkerHealth['state'] = 'created'
  let runtime: Runtime | undefined
  let starting: Promise<void> | undefined
  let stopping: Promise<void> | undefined

  async function open(): Promise<void> {
    state = 'starting'
    try {
      runtime = await openRuntime(options, {
        ...{ events, log, clock, random, shutdown },
        executor: { worker: id, release },
        handlers: new Map(options.handlers.map((handler) => [handler.job.name, handler])),
        timing: readTiming(options, queues),
        token: () => `${id}.${life}.${((tokens += 1)).toString(36)}`,
        interrupted: new Map(),
      })
    } catch (error) {
      state = 'created'
      starting = undefined
      throw error
    }
    state = 'running'
    events.emit('worker.started', { worker: id, queues })
  }

  async function end(): Promise<void> {
    // A stop during the start waits for it: half a worker cannot be stopped.
    await starting?.catch(() => undefined)
    if (state === 'stopped') return
    state = 'stopping'
    const how = await runtime?.stop()
    if (state !== 'stopping') return
    state = 'stopped'
    events.emit('worker.stopped', { worker: id, forced: how === 'aborted' })
  }

  async function leaveNow(): Promise<void> {
    if (state === 'stopped') return
    state = 'stopped'
    await runtime?.abandon()
    events.emit('worker.stopped', { worker: id, forced: true })
  }

  return {
    id,
    events,
    async start() {
      if (stopping !== undefined || state === 'stopped') throw new CronceError('CRONCE_WORKER_STOPPED', { worker: id })
      starting ??= open()
      await starting
    },
    async stop({ force = false } = {}) {
      if (force) return await leaveNow()
      if (state === 'created' && starting === undefined) return
      stopping ??= end()
      await stopping
    },
    health: () => ({ state, active: runtime?.active() ?? 0, queues }),
    async overdue() {
      if (runtime === undefined) throw new TypeError('the worker does not run: await start() first')
      return await runtime.overdue()
    },
  }
}
