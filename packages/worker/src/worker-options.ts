import { type Clock, CronceError, describeValue, type Fault, type Random, SINGLE_ENTITY_KEY } from '@cronce/core'
import type { Telemetry } from '@cronce/queue'
import type { RedisSource, SafetyFinding } from '@cronce/store'
import type { PostgresAdapter } from '@cronce/store/postgres'
import { checkSettings, type WatchdogSettings } from '@cronce/watchdog'
import type { Logger } from 'pino'
import type { Handler } from './handler.ts'
import { timingFaults, type WorkerTimingOptions } from './worker-timing.ts'

export interface WorkerOptions extends WorkerTimingOptions {
  /** The namespace of the jobs: the same as of the replicas that trigger them. */
  readonly service: string
  /** The code of the jobs that this worker runs, made by `handle`. */
  readonly handlers: readonly Handler[]
  /** Redis: a URL, ioredis options, or a function that makes ioredis clients (Sentinel, Cluster); never one with `keyPrefix`. */
  readonly redis: RedisSource
  /** Which queues to take from, and how many tasks of each at once: `{ billing: 10 }`. */
  readonly queues: Readonly<Record<string, number>>
  /**
   * Where receipts live. Default: in Redis, beside the fence. `postgres: pgAdapter(pool)` keeps all of them in Postgres, those of
   * `ctx.once` too, and gives handlers `ctx.transaction`. Change it while no run is under way: neither store reads the other.
   */
  readonly receipts?: { readonly postgres: PostgresAdapter }
  /** A pino logger. Default: pino at level info. Payloads are never logged. */
  readonly logger?: Logger
  /** This worker's name in the ledger and in logs; unique in the service. Default: host name, process id and a random suffix. */
  readonly id?: string
  /** The release this image is of, kept with what it does. Default: "unknown". */
  readonly release?: string
  /** Findings about Redis that are accepted by name, such as `eviction`. Default: none. */
  readonly accept?: readonly SafetyFinding['name'][]
  /**
   * Makes what traces are written with, once at the start: `() => new BullMQOtel()` of bullmq-otel. Each task is a span of the trace that
   * its slot's claim began. Default: none.
   */
  readonly telemetry?: () => Telemetry
  /** Default: the machine's clock. */
  readonly clock?: Clock
  /** Default: the machine's chance. */
  readonly random?: Random
  /** `clock` runs the scripts on `clock` as well: for simulation, where time is virtual. Default: Redis's time. */
  readonly time?: 'redis' | 'clock'
  /** The alarm for what did not run, whichever process failed; `off` leaves it to other processes. Default: on, without notifiers. */
  readonly watchdog?: WatchdogSettings | 'off'
}

/** The summary of a refusal has this many faults; `faults` has them all. */
const SUMMARY_FAULTS = 3

/**
 * Refuses what no worker can be made of.
 *
 * @throws CronceError CRONCE_WORKER_INVALID or CRONCE_WATCHDOG_INVALID, whose `faults` has every fault
 */
export function checkOptions(options: WorkerOptions): void {
  if (options.watchdog !== undefined && options.watchdog !== 'off') checkSettings(options.watchdog)
  const faults = [
    ...(typeof options.service === 'string' && options.service !== ''
      ? []
      : [{ path: 'service', message: `expected the name of the service, got ${describeValue(options.service)}` }]),
    ...queueFaults(options.queues),
    ...handlerFaults(options.handlers, options.queues),
    ...receiptFaults(options.receipts),
    ...timingFaults(options),
  ]
  if (faults.length === 0) return
  const shown = faults.slice(0, SUMMARY_FAULTS).map(({ path, message }) => `${path}: ${message}`)
  const more = faults.length > SUMMARY_FAULTS ? `; and ${faults.length - SUMMARY_FAULTS} more` : ''
  throw new CronceError('CRONCE_WORKER_INVALID', { count: faults.length, summary: shown.join('; ') + more }, { faults })
}

function receiptFaults(receipts: WorkerOptions['receipts']): Fault[] {
  const postgres: unknown = receipts?.postgres
  const fits =
    receipts === undefined ||
    (typeof postgres === 'object' && postgres !== null && 'query' in postgres && 'transaction' in postgres)
  if (fits) return []
  return [{ path: 'receipts.postgres', message: `expected pgAdapter(pool), got ${describeValue(postgres)}` }]
}

function queueFaults(queues: Readonly<Record<string, number>>): Fault[] {
  const entries = typeof queues === 'object' && queues !== null ? Object.entries(queues) : []
  if (entries.length === 0)
    return [{ path: 'queues', message: `expected at least one queue, got ${describeValue(queues)}` }]
  return entries.flatMap(([name, concurrency]) =>
    Number.isSafeInteger(concurrency) && concurrency >= 1
      ? []
      : [
          {
            path: `queues.${name}`,
            message: `expected how many tasks at once, a whole number from 1, got ${describeValue(concurrency)}`,
          },
        ],
  )
}

function handlerFaults(handlers: readonly Handler[], queues: Readonly<Record<string, number>>): Fault[] {
  if (!Array.isArray(handlers))
    return [{ path: 'handlers', message: `expected a list, got ${describeValue(handlers)}` }]
  const seen = new Set<string>()
  return handlers.flatMap((handler, index): Fault[] => {
    const job = handler?.job
    if (typeof job?.name !== 'string') {
      return [
        {
          path: `handlers[${index}]`,
          message: `expected what handle(job, ...) returns, got ${describeValue(handler)}`,
        },
      ]
    }
    const path = `handlers.${job.name}`
    const faults: Fault[] = []
    const refuse = (part: string, message: string) => faults.push({ path: `${path}${part}`, message })
    if (seen.has(job.name)) refuse('', 'expected one handler, got another one for the same job')
    seen.add(job.name)
    if (handler.each === undefined && handler.eachChunk === undefined)
      refuse('.each', 'expected a function here or as eachChunk, got neither')
    for (const name of ['each', 'eachChunk'] as const) {
      const work: unknown = handler[name]
      if (work !== undefined && typeof work !== 'function')
        refuse(`.${name}`, `expected a function, got ${describeValue(work)}`)
    }
    if (!isSingleEntity(handler) && handler.entities === undefined) {
      refuse('.entities', 'expected a function that reads the entities of a job with `entity`, got nothing')
    }
    if (handler.entities !== undefined && typeof handler.entities !== 'function') {
      refuse('.entities', `expected a function, got ${describeValue(handler.entities)}`)
    }
    if (handler.done !== undefined && typeof handler.done !== 'function') {
      refuse('.done', `expected a function, got ${describeValue(handler.done)}`)
    }
    if (job.enqueue !== undefined)
      refuse('', 'expected none: with `enqueue` the job is placed for a worker of your own')
    else if (!Object.hasOwn(queues ?? {}, job.queue)) {
      refuse(
        '',
        `expected its queue "${job.queue}" among those of this worker, got ${Object.keys(queues ?? {}).join(', ') || 'none'}`,
      )
    }
    return faults
  })
}

/** Whether the job was defined without `entity`: its one key is there whatever it is asked of. */
function isSingleEntity({ shape }: Handler): boolean {
  try {
    return shape.key(undefined) === SINGLE_ENTITY_KEY
  } catch {
    return false
  }
}
