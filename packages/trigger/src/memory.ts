import { readEpoch, readJob, registerJob, restoreJob } from '@cronce/store'
import type { TriggerContext } from './trigger-context.ts'
import { rewatch, unwatch, type WatchedJob } from './watched-job.ts'

/** S2: tells the store what this replica remembers of a job that the store lost, or has an older state of. */
export async function tellMemory(
  context: TriggerContext,
  job: WatchedJob,
  reason: 'new epoch' | 'lower watermark',
): Promise<void> {
  const { store, replica, timing, events } = context
  // T8: what was gone before its keys were is no job any more.
  if (job.goneAt !== undefined && (await readJob(store, job.name)) === undefined) {
    unwatch(context, job.name)
    return
  }
  events.emit('store.lost-writes', { job: job.name, reason })
  if ((await readJob(store, job.name)) === undefined)
    await registerJob(store, job.settings, { by: replica, dynamic: job.dynamic })
  const { watermarkAt, sinceAt, registeredAt } = job
  await restoreJob(store, job.name, { watermarkAt, sinceAt, registeredAt, waitMs: timing.sweepMs, by: replica })
  await rewatch(context, job.name)
}

/** S2: the store has another epoch than this replica knows: everything it remembers is told. Answers the epoch. */
export async function followEpoch(context: TriggerContext, seen: string): Promise<string> {
  const epoch = seen === '' ? await readEpoch(context.store, context.freshEpoch()) : seen
  if (context.epoch.value !== '' && epoch !== context.epoch.value) {
    for (const job of [...context.jobs.values()]) await tellMemory(context, job, 'new epoch')
  }
  context.epoch.value = epoch
  return epoch
}
