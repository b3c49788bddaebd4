import { repairJob } from '@cronce/queue'
import { askForLook, look, putOffJob, type TakenJob } from '@cronce/store'
import { foldJob } from './fold-job.ts'
import { followEpoch } from './memory.ts'
import { switchGeneration, watchFrom } from './register.ts'
import { passOverFault, tellPassedOver } from './row-fault.ts'
import { followSuccession } from './succession.ts'
import { tick } from './tick.ts'
import { eraseTombstones } from './tombstones.ts'
import type { TriggerContext } from './trigger-context.ts'
import { SKEW_WARNING_MS } from './trigger-timing.ts'
import { rewatch } from './watched-job.ts'

/** Jobs that one sweep looks at. */
const MOST_JOBS = 200

/** Stands in the watch set for what one replica does for the whole fleet; no job has an empty name. */
const FLEET = ''

/** Asks for the fleet's own look; whoever comes first takes it. */
export function watchFleet(context: TriggerContext): Promise<void> {
  return askForLook(context.store, 'watch', [
    { job: FLEET, lookAt: context.redisClock.now() + context.timing.heartbeatMs },
  ])
}

/** T4: one batched look at what others left open, shared by the fleet. Answers the number of the newest change it has seen. */
export async function sweep(context: TriggerContext, newestChange: number): Promise<number> {
  const { store, timing, redisClock, clock, events } = context
  const askedAt = clock.now()
  const seen = await look(store, { putOffMs: timing.sweepMs, most: MOST_JOBS, newestChange })
  redisClock.learn(seen.now, askedAt)
  if (Math.abs(redisClock.skewMs) > SKEW_WARNING_MS) events.emit('clock.skewed', { skewMs: redisClock.skewMs })
  await followEpoch(context, seen.epoch)
  const unknown = seen.taken.flatMap(({ job }) => (job === FLEET || context.jobs.has(job) ? [] : [job]))
  await followChanges(context, [...seen.changed, ...unknown])
  const known = seen.taken.filter(({ job }) => context.jobs.has(job))
  const { again } = await tick(
    context,
    known.map(({ job }) => job),
  )
  await Promise.all(
    known.map((taken) =>
      // Promise 10: a job that cannot be looked at keeps nobody from the others; it was put off when it was taken.
      settleLook(context, taken, again.get(taken.job)).catch((error: unknown) =>
        tellPassedOver(context, taken.job, error),
      ),
    ),
  )
  const fleet = seen.taken.find(({ job }) => job === FLEET)
  if (fleet !== undefined) {
    await followSuccession(context)
    await eraseTombstones(context)
    await putOffJob(store, 'watch', { ...fleet, lookAt: redisClock.now() + timing.heartbeatMs })
  }
  // Promise 2: a thousand claims whose replica died are found within one sweep, not two hundred in each.
  return seen.taken.length === MOST_JOBS ? await sweep(context, seen.newestChange) : seen.newestChange
}

/** A2: every job of the service is fired here, whoever registered it. */
export async function followAll(context: TriggerContext): Promise<number> {
  let newestChange = 0
  for (;;) {
    const seen = await look(context.store, { putOffMs: 0, most: 0, newestChange })
    if (seen.changed.length === 0) return newestChange
    await followChanges(context, seen.changed)
    newestChange = seen.newestChange
  }
}

/** Jobs that are read from the store at once. */
const READ_AT_ONCE = 100

async function followChanges(context: TriggerContext, names: readonly string[]): Promise<void> {
  for (let start = 0; start < names.length; start += READ_AT_ONCE) {
    const slice = names.slice(start, start + READ_AT_ONCE)
    await Promise.all(slice.map((name) => passOverFault(context, name, () => followChange(context, name))))
  }
}

async function followChange(context: TriggerContext, name: string): Promise<void> {
  const job = await rewatch(context, name)
  if (job === undefined) return
  if (job.switching) await switchGeneration(context, name)
  await watchFrom(context, context.jobs.get(name) ?? job)
}

/** W3: what should be on the queue is there; then the job is looked at again when there will be something to see. */
async function settleLook(context: TriggerContext, taken: TakenJob, again: number | undefined): Promise<void> {
  const job = context.jobs.get(taken.job)
  if (job === undefined) return
  const { queue, version } = job.settings
  const { store, enqueuer, timing, events } = context
  const { open, unrecorded, added } = await repairJob({
    store,
    enqueuer,
    job: taken.job,
    queue,
    version,
    quietMs: timing.quietMs,
  })
  if (added > 0) events.emit('work.readded', { job: taken.job, count: added })
  await foldJob(context, job)
  const now = context.redisClock.now()
  const next = job.goneAt === undefined ? job.nextAt : job.goneAt + job.settings.catchUp.withinMs
  // What is recorded and under way is a worker's; it is looked at again only in case it was lost.
  const quiet = open > 0 ? now + timing.quietMs : Number.POSITIVE_INFINITY
  const isOpen = unrecorded > 0 || again !== undefined
  const lookAt = isOpen
    ? now + timing.sweepMs
    : Math.max(now + timing.sweepMs, Math.min(quiet, next + timing.claimLeaseMs))
  await putOffJob(store, 'watch', { ...taken, lookAt: Number.isFinite(lookAt) ? lookAt : undefined })
}
