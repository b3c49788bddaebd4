import {
  askForLook,
  forgetJob,
  type Heard,
  type KnownImage,
  listImages,
  listReplicas,
  openSlotIds,
  type ReplicaPresence,
  resumeJob,
  retireJob,
  switchImage,
} from '@cronce/store'
import { switchGeneration } from './register.ts'
import { passOverFault } from './row-fault.ts'
import type { TriggerContext } from './trigger-context.ts'
import { HEARTBEATS_MISSED } from './trigger-timing.ts'
import { rewatch, unwatch, type WatchedJob } from './watched-job.ts'

/** Who carries what: the replicas heard of within a lease, and which of them have not said goodbye. */
export interface Carriers {
  /** Within their lease: a restart in the middle of a rollout is not a departure. */
  readonly heard: readonly Heard<ReplicaPresence>[]
  readonly alive: readonly Heard<ReplicaPresence>[]
}

/** What is to become of the image in force. */
export type Succession =
  | { readonly kind: 'stay' }
  /** T6: no live replica carries it; the newest that live ones carry takes over. */
  | { readonly kind: 'give-way'; readonly to: string }
  /** T8: the last carrier is gone while other live replicas of the service lack the job. */
  | { readonly kind: 'gone' }

/** T6, T8: judges one job. Pure. */
export function judgeSuccession(
  job: Pick<WatchedJob, 'name' | 'image'>,
  carriers: Carriers,
  images: readonly KnownImage[],
): Succession {
  const carried = carriers.heard.flatMap((replica) => replica.images[job.name] ?? [])
  if (carried.includes(job.image)) return { kind: 'stay' }
  const alive = carriers.alive.flatMap((replica) => replica.images[job.name] ?? [])
  const newest = images.find(({ image }) => alive.includes(image))
  if (newest !== undefined) return { kind: 'give-way', to: newest.image }
  // A carrier that said goodbye and is still within its lease may be restarting.
  return carried.length === 0 && carriers.alive.length > 0 ? { kind: 'gone' } : { kind: 'stay' }
}

/** The replicas of the service, as heard of within the lease of a presence. */
async function readCarriers(context: TriggerContext): Promise<Carriers> {
  const lease = context.timing.heartbeatMs * HEARTBEATS_MISSED
  const heard = await listReplicas(context.store, context.redisClock.now() - lease)
  return { heard, alive: heard.filter(({ leftAt }) => leftAt === undefined) }
}

/** T6, T8: does for every job what its carriers ask for. Done once per lease and fleet. */
export async function followSuccession(context: TriggerContext): Promise<void> {
  const carriers = await readCarriers(context)
  for (const job of [...context.jobs.values()])
    await passOverFault(context, job.name, () => followOne(context, job, carriers))
}

async function followOne(context: TriggerContext, job: WatchedJob, carriers: Carriers): Promise<void> {
  if (job.goneAt === undefined) {
    if (!job.dynamic) await succeed(context, job, carriers)
  } else if (context.redisClock.now() > job.goneAt + job.settings.catchUp.withinMs) {
    // T10: nobody resumes a job that is gone for good; what its pause holds back is recorded, and what was claimed goes on.
    if (job.pause?.state === 'paused') await endPause(context, job)
    await bury(context, job.name)
  }
}

async function succeed(context: TriggerContext, job: WatchedJob, carriers: Carriers): Promise<void> {
  // The usual case costs nothing: somebody who lives carries the image in force.
  if (carriers.heard.some((replica) => replica.images[job.name] === job.image)) return
  const succession = judgeSuccession(job, carriers, await listImages(context.store, job.name))
  if (succession.kind === 'stay') return
  if (succession.kind === 'gone') {
    await retireJob(context.store, job.name, { by: context.replica, image: job.image })
    await rewatch(context, job.name)
    return
  }
  await switchImage(context.store, job.name, { by: context.replica, image: job.image, to: succession.to })
  await switchGeneration(context, job.name)
}

async function endPause(context: TriggerContext, { name }: WatchedJob): Promise<void> {
  await resumeJob(context.store, name, { by: context.replica, note: 'the job is gone', missed: 'skip' })
  await rewatch(context, name)
  await askForLook(context.store, 'watch', [{ job: name, lookAt: context.redisClock.now() }])
}

/** T8: a tombstone is final after the catch-up window, and when what it owed is taken; a later return is a new registration. */
async function bury(context: TriggerContext, name: string): Promise<void> {
  const job = await rewatch(context, name)
  if (job === undefined || job.goneAt === undefined || Number.isFinite(job.nextAt)) return
  if ((await openSlotIds(context.store, name, 1)).length > 0) return
  await forgetJob(context.store, name)
  unwatch(context, name)
}
