import { type JobSettings, slotsBetween, spreadOffsetMs } from '@cronce/core'
import { askForLook, closeGeneration, registerJob } from '@cronce/store'
import { dueSlot, graceMs } from './due-slots.ts'
import { cutBacklogOf } from './cut.ts'
import type { TriggerContext } from './trigger-context.ts'
import { MOST_SLOTS } from './trigger-timing.ts'
import { rewatch, type WatchedJob } from './watched-job.ts'

/** How far past now the list for a closing reaches, ms: the script refuses when time has passed it. */
const AHEAD_MS = 5_000

/** How often a closing is tried: each failure means that another replica, or time, got ahead. */
const CLOSING_TRIES = 10

/** T6, T7: registers one carried definition, closing the generation in force where its schedule is another. */
export async function registerCarried(context: TriggerContext, settings: JobSettings): Promise<void> {
  const { store, replica, events } = context
  const askedAt = context.clock.now()
  const registration = await registerJob(store, settings, replica)
  context.redisClock.learn(registration.now, askedAt)
  let watched = await rewatch(context, settings.name)
  if (registration.status === 'edit') watched = await closeOld(context, settings.name)
  if (watched === undefined) return
  const status = registration.status === 'edit' ? 'edited' : registration.status
  events.emit('job.registered', { job: settings.name, status, generation: watched.generation })
  await watchFrom(context, watched)
}

/** A5: the job is in the watch set before anything is written about its next slot. */
export async function watchFrom(context: TriggerContext, job: WatchedJob): Promise<void> {
  if (!Number.isFinite(job.nextAt)) return
  await askForLook(context.store, 'watch', [{ job: job.name, lookAt: job.nextAt + context.timing.claimLeaseMs }])
}

/** T7: what the old schedule owes stays due; the edit is the closing script's own time. */
async function closeOld(context: TriggerContext, name: string): Promise<WatchedJob | undefined> {
  for (let tries = 0; tries < CLOSING_TRIES; tries++) {
    const old = await rewatch(context, name)
    if (old === undefined) return undefined
    const { schedule } = old.settings
    const now = context.redisClock.now()
    const grace = graceMs(schedule, context.timing, now)
    await cutBacklogOf(context, old, { now, graceMs: grace })
    const fromAt = Math.max(old.watermarkAt, old.sinceAt)
    const slots = []
    let toAt = now + AHEAD_MS
    for (const at of slotsBetween(schedule, fromAt, toAt)) {
      if (slots.length === MOST_SLOTS) {
        toAt = at - 1
        break
      }
      slots.push(dueSlot(at, spreadOffsetMs(name, schedule)))
    }
    const request = { job: name, generation: old.generation, toAt, graceMs: grace, by: context.replica, slots }
    const answer = await closeGeneration(context.store, request)
    if (answer.status === 'closed' || answer.status === 'stale') break
  }
  return rewatch(context, name)
}
