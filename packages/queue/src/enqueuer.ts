import type { SlotKey } from '@cronce/core'
import { queuePrefix, type RedisClient } from '@cronce/store'
import { type JobsOptions, Queue, type QueueOptions } from 'bullmq'
import type { ShownLetter } from './redact-letter.ts'
import { type Task, taskId } from './task.ts'
import { TASK_OPTIONS } from './task-options.ts'
import { type Telemetry, withoutInternals } from './telemetry.ts'

/** Jobs per addBulk: the best rate in measurements, and well under 100 ms of Redis. */
const BULK = 500

/** The queue that shows a service's dead letters. Nobody works on it: it is a view of the store's records (W8). */
export const DEAD_LETTER_QUEUE = 'dead-letters'

/** Puts tasks on the queues of one service. */
export interface Enqueuer {
  /**
   * Adds tasks to a queue. A task that is there already is left as it is.
   * @throws what BullMQ and ioredis throw; {@link provesNothingAdded} tells which errors prove that nothing was added.
   */
  add(queue: string, tasks: readonly Task[]): Promise<void>
  /** Places slots for a plain BullMQ worker, one job each, its id the slot key, which outlives the claim's lease. */
  addForeign(destination: ForeignQueue, slots: readonly ForeignSlot[]): Promise<void>
  /** Shows dead letters on the dead-letter queue: open ones are there as any board may show them, others are not. */
  showDeadLetters(letters: readonly ShownLetter[]): Promise<void>
  /** Takes dead letters off the queue that shows them. */
  hideDeadLetters(ids: readonly string[]): Promise<void>
  /** How many tasks of a queue wait, run, or are delayed. */
  depth(queue: string): Promise<{ waiting: number; active: number; delayed: number }>
  close(): Promise<void>
}

/** A slot for somebody else's BullMQ worker. */
export interface ForeignSlot {
  readonly slot: SlotKey
  /** The nominal instant, epoch ms. */
  readonly at: number
  /** The trace that it continues. */
  readonly trace?: string
}

/** A queue of somebody else's BullMQ worker. */
export interface ForeignQueue {
  readonly queue: string
  readonly name: string
  /** The prefix of that worker's BullMQ; `bull` is BullMQ's own default. */
  readonly prefix: string
}

/** How long BullMQ keeps the finished jobs of foreign workers, in seconds: their ids must outlive every claim lease (A4). */
const FOREIGN_KEPT_SECONDS = 24 * 3600

export interface EnqueuerOptions {
  readonly redis: RedisClient
  readonly service: string
  /** Continues the trace in which tasks are added; those that bring a trace of their own keep it. Default: none. */
  readonly telemetry?: Telemetry | undefined
}

export function createEnqueuer({ redis, service, telemetry }: EnqueuerOptions): Enqueuer {
  const queues = new Map<string, Queue>()
  const open = (name: string, prefix = queuePrefix(service, name)): Queue => {
    const known = queues.get(`${prefix}:${name}`)
    if (known !== undefined) return known
    const traced =
      telemetry === undefined || name === DEAD_LETTER_QUEUE ? {} : { telemetry: withoutInternals(telemetry) }
    const options: QueueOptions = { connection: redis, prefix, skipWaitingForReady: true, ...traced }
    const queue = new Queue(name, options)
    // BullMQ repeats every connection error here; the caller hears of it from its own command.
    queue.on('error', () => undefined)
    queues.set(`${prefix}:${name}`, queue)
    return queue
  }
  return {
    async add(name, tasks) {
      const jobs = tasks.map((task) => ({ name: task.kind, data: taskData(task), opts: optionsOf(task) }))
      for (let start = 0; start < jobs.length; start += BULK) await open(name).addBulk(jobs.slice(start, start + BULK))
    },
    async addForeign({ queue, name, prefix }, slots) {
      const keep = { removeOnComplete: { age: FOREIGN_KEPT_SECONDS }, removeOnFail: { age: FOREIGN_KEPT_SECONDS } }
      const jobs = slots.map(({ slot, at, trace }) => ({
        name,
        data: { slot, at: new Date(at).toISOString() },
        opts: { jobId: slot, ...keep, ...traceOption(trace) },
      }))
      await open(queue, prefix).addBulk(jobs)
    },
    async showDeadLetters(letters) {
      const queue = open(DEAD_LETTER_QUEUE)
      // Removed first: BullMQ keeps the old record of a known id and says nothing.
      await Promise.all(letters.map((letter) => queue.remove(letter.id)))
      const shown = letters.filter((letter) => letter.state === 'open')
      await queue.addBulk(shown.map((letter) => ({ name: letter.reason, data: letter, opts: { jobId: letter.id } })))
    },
    async hideDeadLetters(ids) {
      if (ids.length === 0) return
      const queue = open(DEAD_LETTER_QUEUE)
      await Promise.all(ids.map((id) => queue.remove(id)))
    },
    async depth(name) {
      const counts = await open(name).getJobCounts('wait', 'active', 'delayed', 'prioritized')
      return {
        waiting: (counts['wait'] ?? 0) + (counts['prioritized'] ?? 0),
        active: counts['active'] ?? 0,
        delayed: counts['delayed'] ?? 0,
      }
    },
    async close() {
      await Promise.all(Array.from(queues.values(), (queue) => queue.close()))
      queues.clear()
    },
  }
}

function taskData({ job, id, number, version }: Task): Omit<Task, 'kind'> {
  return { job, id, number, version }
}

function optionsOf(task: Task): JobsOptions {
  return { ...TASK_OPTIONS, jobId: taskId(task), ...traceOption(task.trace) }
}

function traceOption(trace: string | undefined): Pick<JobsOptions, 'telemetry'> {
  return trace === undefined ? {} : { telemetry: { metadata: trace } }
}

/**
 * T2: whether an error of `add` proves that nothing was added, so that the claim may be given back at once. A time-out or a
 * lost connection proves nothing: the lease ends by itself.
 */
export function provesNothingAdded(error: unknown): boolean {
  const message = error instanceof Error ? error.message : ''
  return (
    /^(OOM|READONLY|MISCONF|NOPERM|WRONGTYPE|CROSSSLOT)\b/.test(message) || /^(Custom Id|JobId) cannot/i.test(message)
  )
}
