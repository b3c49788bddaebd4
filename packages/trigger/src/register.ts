import { type JobSettings, slotsBetween } from '@cronce/core'
import {
  askForLook,
  closeGeneration,
  type DueSlot,
  type Registration,
  readJob,
  registerJob,
  retireJob,
} from '@cronce/store'
import { reachOfCut } from './catch-up.ts'
import { cutBacklogOf, cutWhilePaused } from './cut.ts'
import { dueSlot, graceMs } from './due-slots.ts'
import { passOverFault } from './row-fault.ts'
import type { TriggerContext } from './trigger-context.ts'
import { MOST_SLOTS } from './trigger-timing.ts'
import { rewatch, type WatchedJob } from './watched-job.ts'

/** How far past now the list for a closing reaches, ms: the script refuses when time has passed it. */
const AHEAD_MS = 5_000

/** How often a closing is tried: each failure means that another replica, or time, got ahead. */
const CLOSING_TRIES = 10

/** Definitions that are registered side by side: with thousands of them, a start would be long one by one. */
const REGISTERED_AT_ONCE = 50

/** Registers everything this image carries; what cannot be registered is told of and passed over (promise 10). */
export async function registerAll(context: TriggerContext): Promise<void> {
  const { carried } = context
  for (let start = 0; start < carried.length; start += REGISTERED_AT_ONCE) {
    const slice = carried.slice(start, start + REGISTERED_AT_ONCE)
    await Promise.all(
      slice.map((settings) => passOverFault(context, settings.name, () => registerCarried(context, settings))),
    )
  }
}

/** T6, T7: registers one carried definition, closing the generation in force where its schedule is another. */
export async function registerCarried(context: TriggerContext, settings: JobSettings): Promise<void> {
  const { store, replica, events, clock, redisClock } = context
  if (await isRenamed(context, settings.name)) {
    await rewatch(context, settings.name)
    return
  }
  const askedAt = clock.now()
  const registration = await registerJob(store, settings, { by: replica })
  redisClock.learn(registration.now, askedAt)
  if (settings.was !== undefined) await retireFormer(context, { name: settings.was, renamedTo: settings.name })
  const watched =
    registration.status === 'edit'
      ? await switchGeneration(context, settings.name)
      : (watchedAs(context, registration, settings.name) ?? (await rewatch(context, settings.name)))
  if (watched === undefined) return
  const status = registration.status === 'edit' ? 'edited' : registration.status
  events.emit('job.registered', { job: settings.name, status, generation: watched.generation })
  await watchFrom(context, watched)
}

/** The job as this replica watches it, where that is what the registration found. What changes later is followed by sweeps. */
function watchedAs(context: TriggerContext, registration: Registration, name: string): WatchedJob | undefined {
  const { status, image, generation } = registration
  const known = context.jobs.get(name)
  const isSame = status === 'same' && known?.image === image && known.generation === generation
  return isSame && known.goneAt === undefined ? known : undefined
}

/** `was`: an old image that restarts after the rename registers nothing, as long as the job that took its place is there. */
async function isRenamed(context: TriggerContext, name: string): Promise<boolean> {
  const stored = await readJob(context.store, name)
  if (stored?.renamedTo === undefined) return false
  const successor = await readJob(context.store, stored.renamedTo)
  if (successor === undefined || successor.goneAt !== undefined) return false
  context.events.emit('job.passed-over', { job: name, reason: `it is called ${stored.renamedTo} now` })
  return true
}

/** `was` closes the old name by T7: what it owed up to now stays due, nothing fires after it. */
async function retireFormer(context: TriggerContext, former: { name: string; renamedTo: string }): Promise<void> {
  const old = await rewatch(context, former.name)
  if (old === undefined || old.goneAt !== undefined) return
  await cutBacklogOf(context, old, {
    graceMs: graceMs(old.settings.schedule, context.timing, context.redisClock.now()),
  })
  await retireJob(context.store, former.name, { by: context.replica, image: old.image, renamedTo: former.renamedTo })
  await rewatch(context, former.name)
}

/** A5: the job is in the watch set before anything is written about its next slot. */
export async function watchFrom(context: TriggerContext, job: WatchedJob): Promise<void> {
  if (!Number.isFinite(job.nextAt)) return
  await askForLook(context.store, 'watch', [{ job: job.name, lookAt: job.nextAt + context.timing.claimLeaseMs }])
}

/** T7: what the old schedule owes stays due; the edit is the closing script's own time. */
export async function switchGeneration(context: TriggerContext, name: string): Promise<WatchedJob | undefined> {
  for (let tries = 0; tries < CLOSING_TRIES; tries++) {
    const old = await rewatch(context, name)
    if (old === undefined) return undefined
    const grace = graceMs(old.settings.schedule, context.timing, context.redisClock.now())
    if (old.pause === undefined) await cutBacklogOf(context, old, { graceMs: grace })
    else await cutWhilePaused(context, old, old.pause)
    const owed = owedUntil(old, context.redisClock.now(), grace)
    const request = { job: name, generation: old.generation, graceMs: grace, by: context.replica, ...owed }
    const answer = await closeGeneration(context.store, request)
    if (answer.status === 'closed' || answer.status === 'stale') break
  }
  const watched = await rewatch(context, name)
  if (watched !== undefined) await watchFrom(context, watched)
  return watched
}

/**
 * The old schedule's slots to a little past now, as far as one script takes them: from where the cut reached, for up to there
 * everything is in the ledger or in a gap, however far behind one waiting slot holds the watermark.
 */
function owedUntil(old: WatchedJob, now: number, grace: number): { toAt: number; slots: DueSlot[] } {
  const { schedule } = old.settings
  const afterAt = Math.max(old.watermarkAt, old.sinceAt)
  const reachAt = reachOfCut(schedule, { ...old, afterAt, now, graceMs: grace }) ?? afterAt
  const until = now + AHEAD_MS
  const slots: DueSlot[] = []
  for (const at of slotsBetween(schedule, reachAt, until)) {
    if (slots.length === MOST_SLOTS) return { toAt: at - 1, slots }
    slots.push(dueSlot(at, old.spreadMs))
  }
  return { toAt: until, slots }
}
