import type { JobSettings } from '@cronce/core'
import { instantText } from './instant-text.ts'
import { type Liveness, lastHeardAt } from './liveness.ts'

/** What a worker needs of a job to serve it. */
export type ServedJob = Pick<JobSettings, 'name' | 'queue' | 'version'>

/** Why nobody serves a job. */
export interface Unserved {
  /** Nobody takes from the queue, or nobody who does has the handler. */
  readonly what: 'queue' | 'handler'
  readonly sinceAt: number | undefined
  readonly reason: string
}

/** Whether a live worker serves a job; where none does, since when and why. Pure. */
export function unservedBecause(job: ServedJob, fleet: Liveness): Unserved | undefined {
  const { now, workers, liveWorkers } = fleet
  const onQueue = liveWorkers.filter((worker) => Object.hasOwn(worker.queues, job.queue))
  if (onQueue.length === 0) {
    const sinceAt = lastHeardAt(workers.filter((worker) => Object.hasOwn(worker.queues, job.queue)))
    const since = sinceAt === undefined ? '' : ` since ${instantText(sinceAt, now)}`
    return { what: 'queue', sinceAt, reason: `no worker serves queue "${job.queue}"${since}` }
  }
  const versions = onQueue.flatMap((worker) => worker.handlers[job.name] ?? [])
  if (versions.some((version) => version >= job.version)) return undefined
  const sinceAt = lastHeardAt(workers.filter((worker) => (worker.handlers[job.name] ?? 0) >= job.version))
  const reason =
    versions.length === 0
      ? `no worker of queue "${job.queue}" has a handler for ${job.name}`
      : `no worker of queue "${job.queue}" has version ${job.version} of the handler for ${job.name}, only ${Math.max(...versions)}`
  return { what: 'handler', sinceAt, reason }
}
