import type { Clock } from '@cronce/core'
import { queuePrefix, type RedisClient } from '@cronce/store'
import { DelayedError, type Job, Worker } from 'bullmq'
import { readTask, type Task } from './task.ts'
import { MOST_STALLS } from './task-options.ts'
import { type Telemetry, withoutInternals } from './telemetry.ts'

/** What becomes of a task that was worked on. */
export type TaskOutcome =
  /** Acknowledged: the store has what there is to know, or nothing was to do. */
  | { readonly kind: 'finished' }
  /** Handed back, to be taken again after a while by any worker; uses up nothing. */
  | { readonly kind: 'again'; readonly delayMs: number }

export interface ConsumerOptions {
  /** A connection of the `consumer` profile; BullMQ adds a blocking one of its own. */
  readonly redis: RedisClient
  readonly service: string
  readonly clock: Clock
  readonly queue: string
  /** Tasks at once in this process. */
  readonly concurrency: number
  /** How long a silent worker keeps a task before another may take it, ms. Default 30 s. */
  readonly lockMs?: number
  /** How often silent workers are looked for, ms. Default: the lock's length. */
  readonly stalledEveryMs?: number
  /** A span for each task, in the trace that it was added in. Default: none. */
  readonly telemetry?: Telemetry | undefined
  /** Works on one task. What it throws is an outage: the task is tried again, and the store knows how far it came. */
  readonly process: (task: Task) => Promise<TaskOutcome>
  /** Heard of, beside the task's own outcome: lost locks, lost connections, tasks that are none of ours. */
  readonly onTrouble: (trouble: ConsumerTrouble) => void
}

export interface ConsumerTrouble {
  readonly kind: 'error' | 'stalled' | 'lock-lost' | 'failed' | 'unknown-task'
  readonly taskId?: string
  readonly error?: unknown
}

export interface Consumer {
  /** Takes no further task. Those in hand go on. */
  pause(): Promise<void>
  /** Waits for the tasks in hand, then leaves. Idempotent. */
  close(): Promise<void>
  /** Leaves at once; the locks of tasks in hand run out. */
  abandon(): Promise<void>
}

const DEFAULT_LOCK_MS = 30_000

/** Takes tasks off one queue of one service. */
export function consume(options: ConsumerOptions): Consumer {
  const { redis, service, clock, queue, concurrency, process, onTrouble } = options
  const lockMs = options.lockMs ?? DEFAULT_LOCK_MS
  const worker = new Worker(queue, (job, token) => work(job, token), {
    connection: redis,
    prefix: queuePrefix(service, queue),
    concurrency,
    lockDuration: lockMs,
    stalledInterval: options.stalledEveryMs ?? lockMs,
    maxStalledCount: MOST_STALLS,
    // Seconds: how long the blocking fetch waits. Short, so that a connection that died unseen is found soon (C65).
    drainDelay: 5,
    ...(options.telemetry === undefined ? {} : { telemetry: withoutInternals(options.telemetry) }),
  })
  worker.on('error', (error) => onTrouble({ kind: 'error', error }))
  worker.on('stalled', (taskId) => onTrouble({ kind: 'stalled', taskId }))
  worker.on('failed', (job, error) =>
    onTrouble({ kind: 'failed', error, ...(job?.id === undefined ? {} : { taskId: job.id }) }),
  )
  worker.on('lockRenewalFailed', (ids) => {
    for (const taskId of ids) onTrouble({ kind: 'lock-lost', taskId })
  })

  async function work(job: Job, token: string | undefined): Promise<void> {
    const task = readTask(job.name, job.data)
    if (task === undefined) {
      onTrouble({ kind: 'unknown-task', ...(job.id === undefined ? {} : { taskId: job.id }) })
      return
    }
    const outcome = await process(task)
    if (outcome.kind === 'finished') return
    await job.moveToDelayed(clock.now() + Math.max(0, outcome.delayMs), token)
    throw new DelayedError()
  }

  return {
    pause: () => worker.pause(true),
    close: () => worker.close(),
    abandon: () => worker.close(true),
  }
}
