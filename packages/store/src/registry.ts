import { createHash } from 'node:crypto'
import { type JobSettings, jobSettings, type Schedule, zoneTransitionsHash } from '@cronce/core'
import { jobKey, serviceKey } from './keys.ts'
import { parseStored, readReply } from './reply.ts'
import type { Store } from './store.ts'

/** A job as the store has it: which definition is in force, since when, and how far it is recorded. Instants in epoch ms. */
export interface StoredJob {
  readonly name: string
  readonly generation: number
  /** The generation's start: nothing at or before it is owed under its schedule. */
  readonly sinceAt: number
  readonly watermarkAt: number
  /** The image in force, and the one that is to be: they differ while a generation is being closed. */
  readonly image: string
  readonly target: string
  readonly registeredAt: number
  /** T12: what is older was kept once and is gone; 0: nothing was. */
  readonly keptFromAt: number
  /** What the tzdata of whoever registered the image in force said of its zone. */
  readonly zoneHash: string
  readonly restoration: StoredRestoration | undefined
  /** Registered at run time: no image has to carry it. */
  readonly dynamic: boolean
  /** No live replica carries it since then. */
  readonly goneAt: number | undefined
  /** The job that took its place, by `was`. */
  readonly renamedTo: string | undefined
  readonly pause: StoredPause | undefined
  /** The settings in force, as stored; parse before use, they may come from a newer release. */
  readonly settings: unknown
}

/** S2: the store lost writes; what replicas remember is being merged. */
export interface StoredRestoration {
  readonly at: number
  /** Nothing is claimed before this instant. */
  readonly untilAt: number
  /** By some replica's memory, everything up to here was recorded. */
  readonly memoryAt: number
}

/** A pause, as its author left it. */
export interface StoredPause {
  readonly state: 'paused' | 'resuming'
  readonly at: number
  readonly by: string
  readonly note: string
  /** It ends by itself then; undefined: only by a resume. */
  readonly untilAt: number | undefined
  /** What becomes of slots missed meanwhile. */
  readonly missed: 'skip' | 'catch-up'
}

export interface Registration {
  readonly status: 'registered' | 'same' | 'changed' | 'edit'
  readonly now: number
  readonly generation: number
  readonly image: string
}

/** Who registers, and how. */
export interface Registrar {
  readonly by: string
  /** At run time, for a job that no image carries: dated now whenever it changes something. Default: false. */
  readonly dynamic?: boolean
}

/** The years whose transitions two processes must agree on to compute equal slots (A2). Fixed, so that all compare the same. */
const ZONE_YEARS = [Date.UTC(2025, 0, 1), Date.UTC(2038, 0, 1)] as const

/** What this process's tzdata says of a schedule's zone. A replica whose hash is another must not fire the job. */
export function zoneHashOf(schedule: Schedule): string {
  return schedule.kind === 'every' ? '' : zoneTransitionsHash(schedule.zone, ...ZONE_YEARS)
}

/** The name of an image of a definition: equal settings, read with equal tzdata, have equal names. */
export function imageOf(settings: JobSettings): string {
  return digest(JSON.stringify(jobSettings(settings)) + zoneHashOf(settings.schedule))
}

/** T6: registers an image's definition. Equal settings, however often, change nothing. */
export async function registerJob(
  store: Store,
  settings: JobSettings,
  { by, dynamic = false }: Registrar,
): Promise<Registration> {
  const text = JSON.stringify(jobSettings(settings))
  const fingerprint = digest(JSON.stringify(settings.schedule) + zoneHashOf(settings.schedule))
  const zone = zoneHashOf(settings.schedule)
  const args = [imageOf(settings), text, fingerprint, by, settings.catchUp.withinMs, dynamic ? 1 : 0, zone]
  const reply = readReply(await store.job(settings.name, 'register', args))
  const status = reply.text() as Registration['status']
  const now = reply.number()
  reply.number()
  const generation = reply.number()
  reply.number()
  const image = reply.text()
  await store.span('change', [settings.name, status === 'same' ? 1 : 0])
  return { status, now, generation, image }
}

/** A2: says that a job changed, so that every replica reads it anew. */
export async function announceChange(store: Store, job: string): Promise<void> {
  await store.span('change', [job, 0])
}

/** The time by Redis, epoch ms; on a virtual clock, that clock's. */
export async function readTime(store: Store): Promise<number> {
  const [now] = await store.span('time', [])
  return Number(now)
}

/** Names of the service's jobs, in the order of their last change. */
export function listJobNames(store: Store): Promise<string[]> {
  return store.redis.zrange(`${serviceKey(store.service)}:jobs`, '0', '-1')
}

/** One job as stored, or undefined. */
export async function readJob(store: Store, name: string): Promise<StoredJob | undefined> {
  const fields = await store.redis.hgetall(`${jobKey(store.service, name)}:job`)
  if (fields['generation'] === undefined) return undefined
  return {
    name,
    generation: Number(fields['generation']),
    sinceAt: Number(fields['since']),
    watermarkAt: Number(fields['watermark']),
    image: fields['image'] ?? '',
    target: fields['target'] ?? '',
    registeredAt: Number(fields['registeredAt'] ?? 0),
    keptFromAt: Number(fields['keptFrom'] ?? 0),
    zoneHash: fields['zone'] ?? '',
    restoration: readRestoration(fields),
    dynamic: fields['dynamic'] === '1',
    goneAt: fields['goneAt'] === undefined ? undefined : Number(fields['goneAt']),
    renamedTo: fields['renamedTo'],
    pause: readPause(fields),
    settings: parseStored(fields['settings'] ?? ''),
  }
}

function readRestoration(fields: Readonly<Record<string, string>>): StoredRestoration | undefined {
  if (fields['restoringUntil'] === undefined) return undefined
  return {
    at: Number(fields['restoredAt']),
    untilAt: Number(fields['restoringUntil']),
    memoryAt: Number(fields['memory'] ?? 0),
  }
}

function readPause(fields: Readonly<Record<string, string>>): StoredPause | undefined {
  if (fields['paused'] === undefined) return undefined
  const untilAt = Number(fields['pausedUntil'] ?? 0)
  return {
    state: fields['paused'] === '1' ? 'paused' : 'resuming',
    at: Number(fields['pausedAt'] ?? 0),
    by: fields['pausedBy'] ?? '',
    note: fields['pauseNote'] ?? '',
    untilAt: untilAt > 0 ? untilAt : undefined,
    missed: fields['pauseMissed'] === 'catch-up' ? 'catch-up' : 'skip',
  }
}

/** Ten bytes of SHA-256, base64url: names of images and fingerprints, not secrets. */
function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 14)
}
