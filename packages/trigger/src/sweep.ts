import { repairJob } from '@cronce/queue'
import { askForLook, foldHistory, listChangedJobs, putOffJob, type TakenJob, takeJobs } from '@cronce/store'
import { followSuccession } from './succession.ts'
import { tick } from './tick.ts'
import type { TriggerContext } from './trigger-context.ts'
import { SKEW_WARNING_MS } from './trigger-timing.ts'
import { rewatch } from './watched-job.ts'

/** Jobs that one sweep looks at. */
const MOST_JOBS = 200

/** Stands in the watch set for what one replica does for the whole fleet; no job has an empty name. */
const FLEET = ''

/** Asks for the fleet's own look; whoever comes first takes it. */
export function watchFleet(context: TriggerContext): Promise<void> {
  return askForLook(context.store, 'watch', [{ job: FLEET, lookAt: context.redisClock.now() + context.timing.heartbeatMs }])
}

/** T4: one batched look at what others left open, shared by the fleet. */
export async function sweep(context: TriggerContext): Promise<void> {
  const askedAt = context.clock.now()
  const { now, jobs } = await takeJobs(context.store, 'watch', { putOffMs: context.timing.sweepMs, most: MOST_JOBS })
  context.redisClock.learn(now, askedAt)
  const skewMs = context.redisClock.skewMs
  if (Math.abs(skewMs) > SKEW_WARNING_MS) context.events.emit('clock.skewed', { skewMs })
  for (const { job } of jobs) if (job !== FLEET && !context.jobs.has(job)) await rewatch(context, job)
  const known = jobs.filter(({ job }) => context.jobs.has(job))
  const { again } = await tick(context, known.map(({ job }) => job))
  await Promise.all(known.map((taken) => settleLook(context, taken, again.get(taken.job))))
  const fleet = jobs.find(({ job }) => job === FLEET)
  if (fleet === undefined) return
  await followSuccession(context)
  await putOffJob(context.store, 'watch', fleet, context.redisClock.now() + context.timing.heartbeatMs)
}

/** W3: what should be on the queue is there; then the job is looked at again when there will be something to see. */
async function settleLook(context: TriggerContext, taken: TakenJob, again: number | undefined): Promise<void> {
  const job = context.jobs.get(taken.job)
  if (job === undefined) return
  const { queue, version } = job.settings
  const { store, enqueuer, timing, events } = context
  const { open, added } = await repairJob({ store, enqueuer, job: taken.job, queue, version, quietMs: timing.quietMs })
  if (added > 0) events.emit('work.readded', { job: taken.job, count: added })
  await foldHistory(store, taken.job, { now: context.redisClock.now(), bounds: context.history })
  const soon = context.redisClock.now() + timing.sweepMs
  const next = (job.goneAt === undefined ? job.nextAt : job.goneAt + job.settings.catchUp.withinMs) + timing.claimLeaseMs
  const lookAt = open > 0 || again !== undefined ? soon : Math.max(next, soon)
  await putOffJob(store, 'watch', taken, Number.isFinite(lookAt) ? lookAt : undefined)
}

/** A2: definitions that others registered or changed since this replica looked. Answers the instant it has seen up to. */
export async function followChanges(context: TriggerContext, seenAt: number): Promise<number> {
  const { names, latestAt } = await listChangedJobs(context.store, seenAt)
  for (const name of names) await rewatch(context, name)
  return latestAt
}
