import { findJob, listPresence, type ServiceAccess } from '@cronce/operations'
import { listJobNames } from '@cronce/store'
import type { PresenceAnswer, QueueAnswer } from './answers.ts'

/** Jobs that are looked through for their queue. */
const MOST_JOBS = 1_000

/** Queues whose depth is asked for. */
const MOST_QUEUES = 100

/** Who lives, is silent or left within the last hour, and what waits on each queue. */
export async function readPresence(access: ServiceAccess): Promise<PresenceAnswer> {
  const [{ now, replicas, workers }, jobsOf] = await Promise.all([listPresence(access.store), readQueues(access)])
  const served = new Map<string, { workers: number; places: number }>()
  for (const { state, queues } of workers) {
    if (state !== 'live') continue
    for (const [name, places] of Object.entries(queues)) {
      const known = served.get(name) ?? { workers: 0, places: 0 }
      served.set(name, { workers: known.workers + 1, places: known.places + places })
    }
  }
  const names = [...new Set([...jobsOf.keys(), ...served.keys()])].toSorted().slice(0, MOST_QUEUES)
  const queues = await Promise.all(
    names.map(async (name): Promise<QueueAnswer> => {
      const jobs = jobsOf.get(name) ?? []
      return { name, jobs, ...(served.get(name) ?? { workers: 0, places: 0 }), ...(await access.enqueuer.depth(name)) }
    }),
  )
  return {
    now,
    replicas: replicas.map((replica) => {
      const { id, state, release, host, pid, startedAt, heardAt, skewMs, loopLateMs, jobs, tzdata } = replica
      return { id, state, release, host, pid, startedAt, heardAt, skewMs, loopLateMs, jobs, tzdata }
    }),
    workers: workers.map(({ id, state, release, host, pid, startedAt, heardAt, queues: places, active, handlers }) => {
      const jobs = Object.keys(handlers).length
      return { id, state, release, host, pid, startedAt, heardAt, queues: places, active, jobs }
    }),
    queues,
  }
}

/** The queues of the jobs that can be read, each with the names of its jobs. */
async function readQueues({ store }: ServiceAccess): Promise<ReadonlyMap<string, readonly string[]>> {
  const names = (await listJobNames(store)).toSorted().slice(0, MOST_JOBS)
  const jobs = await Promise.all(names.map(async (name) => [name, await findJob(store, name)] as const))
  const queues = new Map<string, string[]>()
  for (const [name, job] of jobs) {
    // A plain BullMQ worker's queue is none of ours.
    if (job?.settings === undefined || job.settings.enqueue !== undefined || job.stored.goneAt !== undefined) continue
    queues.set(job.settings.queue, [...(queues.get(job.settings.queue) ?? []), name])
  }
  return queues
}
