import { parseJobSettings } from '@cronce/core'
import { repairJob } from '@cronce/queue'
import { clearOpenJob, readJob, type Store, takeOpenJobs } from '@cronce/store'
import { describeThrown } from './thrown-value.ts'
import type { WorkerContext } from './worker-context.ts'

/** Jobs that one sweep looks at. */
const MOST_JOBS = 100

/** W3, A5: one look at the jobs with runs under way, shared by the fleet: what is not on the queue any more is added again. */
export async function sweepOpenWork(context: WorkerContext, store: Store): Promise<void> {
  const { enqueuer, events, timing } = context
  const { jobs } = await takeOpenJobs(store, { putOffMs: timing.sweepMs, most: MOST_JOBS })
  for (const taken of jobs) {
    try {
      const place = await findPlace(context, store, taken.job)
      if (place === undefined) continue
      const { open, added } = await repairJob({ ...place, store, enqueuer, job: taken.job, quietMs: timing.quietMs })
      if (added > 0) events.emit('work.readded', { job: taken.job, count: added })
      if (open === 0) await clearOpenJob(store, taken)
    } catch (error) {
      // Promise 10: one bad job stops no other.
      events.emit('job.passed-over', { job: taken.job, reason: describeThrown(error).message })
    }
  }
}

/** The job's queue and version, as the definition in force says; a row that this release cannot read counts as our own. */
async function findPlace(
  context: WorkerContext,
  store: Store,
  job: string,
): Promise<{ queue: string; version: number } | undefined> {
  const stored = await readJob(store, job)
  const settings = stored === undefined ? undefined : parseJobSettings(stored.settings).ok
  return settings ?? context.handlers.get(job)?.job
}
