import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import {
  type Clock,
  createEmitter,
  type EventSource,
  type JobDefinition,
  jobCatalog,
  jobSettings,
  type Random,
  systemClock,
  systemRandom,
  tzdataVersion,
  writeLogLine,
} from '@cronce/core'
import { createEnqueuer, type Telemetry } from '@cronce/queue'
import { checkRedis, connect, createStore, leave, type RedisSource, readTime, type SafetyFinding } from '@cronce/store'
import {
  checkSettings,
  createWatchdog,
  type ScheduleHealth,
  scheduleHealth,
  type Watchdog,
  type WatchdogLook,
  type WatchdogSettings,
} from '@cronce/watchdog'
import { type Logger, pino } from 'pino'
import { createDueQueue } from './due-queue.ts'
import { type HistoryOptions, parseHistory } from './history-options.ts'
import { followEpoch } from './memory.ts'
import { beat } from './presence.ts'
import { createRedisClock } from './redis-clock.ts'
import { registerAll } from './register.ts'
import { followAll, watchFleet } from './sweep.ts'
import type { TickResult } from './tick.ts'
import type { TriggerContext } from './trigger-context.ts'
import { createTriggerLoop, type LoopHealth, type TriggerLoop } from './trigger-loop.ts'
import { parseTiming, type TimingOptions } from './trigger-timing.ts'

export interface TriggerOptions extends TimingOptions {
  /** The namespace of the jobs: the same in every replica of a service and in its workers. */
  readonly service: string
  /** The definitions this image carries. Every replica fires what the store has, these and those of other images alike. */
  readonly jobs: readonly JobDefinition[]
  /** Redis: a URL, ioredis options, or a function that makes ioredis clients (Sentinel, Cluster); never one with `keyPrefix`. */
  readonly redis: RedisSource
  /** A pino logger. Default: pino at level info. */
  readonly logger?: Logger
  /** This replica's name in claims and logs; unique in the service. Default: host name, process id and a random suffix. */
  readonly id?: string
  /** The release this image is of, shown with what it claims. Default: "unknown". */
  readonly release?: string
  /** Findings about Redis that are accepted by name, such as `eviction`. Default: none. */
  readonly accept?: readonly SafetyFinding['name'][]
  /** How much of the ledger is kept in detail before it folds into daily sums, and for how long those are kept. */
  readonly history?: HistoryOptions
  /**
   * Makes what traces are written with, once at the start: `() => new BullMQOtel()` of bullmq-otel. Each claim begins a trace that workers
   * with telemetry continue. Default: none.
   */
  readonly telemetry?: () => Telemetry
  /** Default: the machine's clock. */
  readonly clock?: Clock
  /** Default: the machine's chance. */
  readonly random?: Random
  /**
   * For simulation, where time is virtual: `clock` runs the scripts on `clock` as well, a function gives them a time of their own. Default:
   * Redis's time.
   */
  readonly time?: 'redis' | 'clock' | (() => number)
  /** The alarm for what did not run, whichever process failed; `off` leaves it to other processes. Default: on, without notifiers. */
  readonly watchdog?: WatchdogSettings | 'off'
}

/** The trigger of one replica. */
export interface Trigger {
  readonly id: string
  readonly events: EventSource
  /**
   * Registers the definitions and begins to fire. Idempotent.
   * @throws CronceError CRONCE_REDIS_UNSAFE, CRONCE_REDIS_KEY_PREFIX; what ioredis throws where Redis is out of reach
   */
  start(): Promise<void>
  /** Ends after the pass in hand, and closes what it opened. Idempotent. */
  stop(): Promise<void>
  health(): TriggerHealth
  /** One pass over what is due: for whoever drives the trigger by hand instead of `start`ing its loop; see {@link prepare}. */
  tick(): Promise<TickResult>
  /** One sweep, by hand. */
  sweep(): Promise<void>
  /** Says that this replica lives, by hand. */
  beat(): Promise<void>
  /** Opens connections and registers, without beginning to fire. `start` does it as well. */
  prepare(): Promise<void>
  /** One look of the watchdog, by hand. */
  watch(): Promise<WatchdogLook>
  /** What of the service is overdue now. @throws what ioredis throws where Redis is out of reach */
  overdue(): Promise<ScheduleHealth>
}

export interface TriggerHealth extends LoopHealth {
  readonly state: 'created' | 'preparing' | 'ready' | 'running' | 'stopping' | 'stopped'
  readonly jobs: number
  readonly skewMs: number
}

/**
 * Makes the trigger that every replica of a service carries.
 *
 * @throws CronceError CRONCE_JOB_INVALID, CRONCE_JOB_DUPLICATE, CRONCE_DURATION_INVALID, CRONCE_WATCHDOG_INVALID
 * @example
 * const trigger = createTrigger({ service: 'billing-api', jobs, redis: 'redis://127.0.0.1:6379' })
 * await trigger.start()
 * // ... and when the process is told to stop:
 * await trigger.stop()
 */
export function createTrigger(options: TriggerOptions): Trigger {
  const { service, release = 'unknown', clock = systemClock, random = systemRandom, time = 'redis' } = options
  const carried = Array.from(jobCatalog(options.jobs), (job) => jobSettings(job))
  const timing = parseTiming(options)
  const watching = options.watchdog === 'off' ? {} : (options.watchdog ?? {})
  checkSettings(watching)
  const id = options.id ?? `${hostname()}-${process.pid}-${randomUUID().slice(0, 4)}`
  const log = (options.logger ?? pino()).child({ service, replica: id })
  const events = createEmitter()
  events.onAny((name, facts) => writeLogLine(log, name, facts))
  let state: TriggerHealth['state'] = 'created'
  let open: { context: TriggerContext; loop: TriggerLoop; watchdog: Watchdog; close: () => Promise<void> } | undefined
  let preparing: Promise<void> | undefined

  async function openUp(): Promise<void> {
    state = 'preparing'
    const redis = connect(options.redis, 'producer')
    // ioredis repeats here what every command already rejects with; without a listener it would end the process.
    redis.on('error', () => undefined)
    const enqueuer = createEnqueuer({ redis, service })
    const close = async () => {
      await enqueuer.close()
      redis.disconnect()
    }
    try {
      for (const { text, fix } of await checkRedis(redis, options.accept)) {
        log.warn({ event: 'redis.unwise' }, `${text}; ${fix}`)
      }
      const virtualTime = time === 'clock' ? () => clock.now() : time
      const store = createStore({ redis, service, ...(virtualTime === 'redis' ? {} : { virtualTime }) })
      const redisClock = createRedisClock(clock)
      const context: TriggerContext = {
        ...{ replica: id, release, store, enqueuer, events, clock, redisClock, random, timing, carried },
        history: parseHistory(options.history),
        telemetry: options.telemetry?.(),
        jobs: new Map(),
        due: createDueQueue(),
        epoch: { value: '' },
        freshEpoch: randomUUID,
      }
      const self = { host: hostname(), pid: process.pid, startedAt: clock.now(), tzdata: tzdataVersion() }
      const askedAt = clock.now()
      redisClock.learn(await readTime(store), askedAt)
      await followEpoch(context, '')
      // Before it registers anything: a new image that nobody is known to carry would give way at once (T6).
      await beat(context, { ...self, loopLateMs: 0 })
      const newestChange = await followAll(context)
      await registerAll(context)
      await watchFleet(context)
      const watchdog = createWatchdog({ ...watching, store, events, who: id, clock, random })
      open = { context, loop: createTriggerLoop(context, { ...self, newestChange }), watchdog, close }
      state = 'ready'
    } catch (error) {
      state = 'created'
      preparing = undefined
      await close()
      throw error
    }
  }

  const opened = () => {
    if (open === undefined) throw new TypeError('the trigger is not prepared: await prepare() or start() first')
    return open
  }

  return {
    id,
    events,
    prepare() {
      preparing ??= openUp()
      return preparing
    },
    async start() {
      await this.prepare()
      if (state !== 'ready') return
      state = 'running'
      const { context, loop, watchdog } = opened()
      events.emit('trigger.started', { replica: id, jobs: context.jobs.size })
      loop.start()
      if (options.watchdog !== 'off') watchdog.start()
    },
    async stop() {
      if (open === undefined || state === 'stopping' || state === 'stopped') return
      state = 'stopping'
      const { context, loop, watchdog, close } = open
      await Promise.all([loop.stop(), watchdog.stop()])
      await leave(context.store, 'replicas', { id, now: context.redisClock.now() }).catch(() => undefined)
      await close()
      state = 'stopped'
      events.emit('trigger.stopped', { replica: id })
    },
    health: () => ({
      state,
      jobs: open?.context.jobs.size ?? 0,
      skewMs: open?.context.redisClock.skewMs ?? 0,
      ...(open?.loop.health() ?? { lastReachedAt: undefined, lateMs: 0, failures: 0 }),
    }),
    tick: () => opened().loop.tick(),
    sweep: () => opened().loop.sweep(),
    beat: () => opened().loop.beat(),
    watch: () => opened().watchdog.look(),
    overdue: () => scheduleHealth(opened().context.store),
  }
}
