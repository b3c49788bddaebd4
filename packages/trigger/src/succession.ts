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

/** Tombstones that one look makes final, and how many of them side by side. */
const MOST_BURIED = 2_000
const BURIED_AT_ONCE = 50

/** T6, T8: does for every job what its carriers ask for. Done once per lease and fleet. */
export async function followSuccession(context: TriggerContext): Promise<void> {
  const carriers = await readCarriers(context)
  const jobs = [...context.jobs.values()]
  for (const job of jobs.filter(({ goneAt, dynamic }) => goneAt === undefined && !dynamic))
    await passOverFault(context, job.name, () => succeed(context, job, carriers))
  const final = jobs.filter((job) => isFinal(context, job)).slice(0, MOST_BURIED)
  for (let start = 0; start < final.length; start += BURIED_AT_ONCE) {
    const slice = final.slice(start, start + BURIED_AT_ONCE)
    await Promise.all(slice.map((job) => passOverFault(context, job.name, () => bury(context, job))))
  }
}

function isFinal({ redisClock }: TriggerContext, { goneAt, settings }: WatchedJob): boolean {
  return goneAt !== undefined && redisClock.now() > goneAt + settings.catchUp.withinMs
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

/** T8: a tombstone is final after the catch-up window, and when what it owed is taken; a later return is a new registration. */
async function bury(context: TriggerContext, { name, pause }: WatchedJob): Promise<void> {
  // T10: nobody resumes a job that is gone for good; what its pause holds back is recorded, and what was claimed goes on.
  if (pause?.state === 'paused') await endPause(context, name)
  const job = await rewatch(context, name)
  // Another replica has buried it, and its keys are gone since.
  if (job === undefined) unwatch(context, name)
  if (job === undefined || !isFinal(context, job) || Number.isFinite(job.nextAt)) return
  if ((await openSlotIds(context.store, name, 1)).length > 0) return
  await forgetJob(context.store, name)
  unwatch(context, name)
}

async function endPause({ store, replica, redisClock }: TriggerContext, name: string): Promise<void> {
  await resumeJob(store, name, { by: replica, note: 'the job is gone', missed: 'skip' })
  await askForLook(store, 'watch', [{ job: name, lookAt: redisClock.now() }])
}
