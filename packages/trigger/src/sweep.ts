import { repairJob } from '@cronce/queue'
import { heartbeatReplica, listChangedJobs, putOffJob, type TakenJob, takeJobs } from '@cronce/store'
import { tick } from './tick.ts'
import type { TriggerContext } from './trigger-context.ts'
import { SKEW_WARNING_MS } from './trigger-timing.ts'
import { rewatch } from './watched-job.ts'

/** Jobs that one sweep looks at. */
const MOST_JOBS = 200

/** What a trigger knows of itself, for its presence. */
export interface SelfFacts {
  readonly host: string
  readonly pid: number
  readonly startedAt: number
  readonly loopLateMs: number
  readonly tzdata: string
}

/** T4: one batched look at what others left open, shared by the fleet. */
export async function sweep(context: TriggerContext): Promise<void> {
  const askedAt = context.clock.now()
  const { now, jobs } = await takeJobs(context.store, 'watch', { putOffMs: context.timing.sweepMs, most: MOST_JOBS })
  context.redisClock.learn(now, askedAt)
  const skewMs = context.redisClock.skewMs
  if (Math.abs(skewMs) > SKEW_WARNING_MS) context.events.emit('clock.skewed', { skewMs })
  for (const { job } of jobs) if (!context.jobs.has(job)) await rewatch(context, job)
  const known = jobs.filter(({ job }) => context.jobs.has(job))
  const { again } = await tick(context, known.map(({ job }) => job))
  await Promise.all(known.map((taken) => settleLook(context, taken, again.get(taken.job))))
}

/** W3: what should be on the queue is there; then the job is looked at again when there will be something to see. */
async function settleLook(context: TriggerContext, taken: TakenJob, again: number | undefined): Promise<void> {
  const job = context.jobs.get(taken.job)
  if (job === undefined) return
  const { queue, version } = job.settings
  const { store, enqueuer, timing, events } = context
  const { open, added } = await repairJob({ store, enqueuer, job: taken.job, queue, version, quietMs: timing.quietMs })
  if (added > 0) events.emit('work.readded', { job: taken.job, count: added })
  const soon = context.redisClock.now() + timing.sweepMs
  const next = job.nextAt + timing.claimLeaseMs
  const lookAt = open > 0 || again !== undefined ? soon : Math.max(next, soon)
  await putOffJob(store, 'watch', taken, Number.isFinite(lookAt) ? lookAt : undefined)
}

/** A2: definitions that others registered or changed since this replica looked. Answers the instant it has seen up to. */
export async function followChanges(context: TriggerContext, seenAt: number): Promise<number> {
  const { names, latestAt } = await listChangedJobs(context.store, seenAt)
  for (const name of names) await rewatch(context, name)
  return latestAt
}

/** Says that this replica lives. */
export async function beat(context: TriggerContext, self: SelfFacts): Promise<void> {
  const presence = {
    id: context.replica,
    release: context.release,
    ...self,
    skewMs: context.redisClock.skewMs,
    jobs: context.jobs.size,
  }
  await heartbeatReplica(context.store, presence, context.redisClock.now())
}
