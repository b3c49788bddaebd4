import { type JobSettings, parseJobSettings, spreadOffsetMs } from '@cronce/core'
import { readJob, type StoredJob, type StoredPause, type StoredRestoration, zoneHashOf } from '@cronce/store'
import { nextEffectiveAt } from './due-slots.ts'
import { freshProgress, type HistoryProgress } from './history-progress.ts'
import type { TriggerContext } from './trigger-context.ts'

/** A job as this replica fires it: the stored definition in force (A2), and how far this replica has come with it. */
export interface WatchedJob {
  readonly name: string
  readonly settings: JobSettings
  readonly generation: number
  readonly sinceAt: number
  readonly spreadMs: number
  /** The image in force, and whether some image has to carry it. */
  readonly image: string
  readonly dynamic: boolean
  /** Another image is to be in force: the generation is to be closed (T7). */
  readonly switching: boolean
  readonly registeredAt: number
  readonly pause: StoredPause | undefined
  readonly restoration: StoredRestoration | undefined
  /** No live replica carries it since then: nothing fires for what comes after (T8). */
  readonly goneAt: number | undefined
  watermarkAt: number
  /** The newest nominal instant this replica has tried. */
  triedAt: number
  /** How far this replica has come with its history. */
  history: HistoryProgress
  /** When it is this replica's turn to try again: the effective instant of the next slot. */
  nextAt: number
}

/** Makes a watched job of a stored one, or says why this replica cannot fire it. */
export function watchJob(stored: StoredJob): WatchedJob | { readonly fault: string } {
  const reading = parseJobSettings(stored.settings)
  if (reading.ok === undefined)
    return { fault: reading.faults.map(({ path, message }) => `${path} ${message}`).join('; ') }
  const settings = reading.ok
  if (![stored.generation, stored.sinceAt, stored.watermarkAt].every(Number.isFinite))
    return { fault: 'expected the instants of its generation and watermark, got something else' }
  // A2: another tzdata makes other slots, and other slot keys; no claim would help.
  if (zoneHashOf(settings.schedule) !== stored.zoneHash)
    return { fault: `this process's tzdata gives its zone other transitions than the registered one's` }
  const spreadMs = spreadOffsetMs(stored.name, settings.schedule)
  const triedAt = Math.max(stored.watermarkAt, stored.sinceAt)
  const { name, generation, sinceAt, watermarkAt, image, dynamic, registeredAt, pause, restoration, goneAt } = stored
  const switching = stored.target !== image
  const standing = { image, dynamic, switching, registeredAt, pause, restoration, goneAt }
  const nextAt = nextOf({ settings, spreadMs, goneAt }, triedAt)
  const own = { watermarkAt, triedAt, nextAt, history: freshProgress() }
  return { name, settings, generation, sinceAt, spreadMs, ...standing, ...own }
}

/** When the first slot after an instant takes effect; Infinity where there is none, or the job is gone by then (T8). */
function nextOf(
  { settings, spreadMs, goneAt }: Pick<WatchedJob, 'settings' | 'spreadMs' | 'goneAt'>,
  triedAt: number,
): number {
  const at = nextEffectiveAt(settings.schedule, triedAt, spreadMs) ?? Number.POSITIVE_INFINITY
  return goneAt !== undefined && at - spreadMs > goneAt ? Number.POSITIVE_INFINITY : at
}

/** Notes that everything up to an instant has been tried, and when the next slot takes effect. */
export function moveOn(context: TriggerContext, job: WatchedJob, triedAt: number): void {
  job.triedAt = Math.max(job.triedAt, triedAt)
  job.nextAt = nextOf(job, job.triedAt)
  context.due.set(job.name, job.nextAt)
}

/** Stops firing a job here. */
export function unwatch(context: TriggerContext, name: string): void {
  context.jobs.delete(name)
  context.due.delete(name)
}

/** Reads a job from the store and watches it; a row this replica cannot read is reported and passed over (promise 10). */
export async function rewatch(context: TriggerContext, name: string): Promise<WatchedJob | undefined> {
  const stored = await readJob(context.store, name)
  if (stored === undefined) return undefined
  const watched = watchJob(stored)
  if ('fault' in watched) {
    unwatch(context, name)
    context.events.emit('job.passed-over', { job: name, reason: watched.fault })
    return undefined
  }
  watched.history = context.jobs.get(name)?.history ?? watched.history
  context.jobs.set(name, watched)
  context.due.set(name, watched.nextAt)
  return watched
}
