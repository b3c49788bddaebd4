import { createHash } from 'node:crypto'
import { type JobSettings, jobSettings } from '@cronce/core'
import { jobKey, serviceKey } from './keys.ts'
import { readReply } from './reply.ts'
import type { Store } from './store.ts'

/** A job as the store has it: which definition is in force, since when, and how far it is recorded. Instants in epoch ms. */
export interface StoredJob {
  readonly name: string
  readonly generation: number
  /** The generation's start: nothing at or before it is owed under its schedule. */
  readonly sinceAt: number
  readonly watermarkAt: number
  readonly image: string
  /** The settings in force, as stored; parse before use, they may come from a newer release. */
  readonly settings: unknown
}

export interface Registration {
  readonly status: 'registered' | 'same' | 'changed' | 'edit'
  readonly now: number
  readonly job: StoredJob
}

/** T6: registers an image's definition. Equal settings, however often, change nothing. */
export async function registerJob(store: Store, settings: JobSettings, replica: string): Promise<Registration> {
  const text = JSON.stringify(jobSettings(settings))
  const reply = readReply(
    await store.job(settings.name, 'register', [digest(text), text, digest(JSON.stringify(settings.schedule)), replica]),
  )
  const status = reply.text() as Registration['status']
  const now = reply.number()
  const [watermarkAt, generation, sinceAt] = [reply.number(), reply.number(), reply.number()]
  const [image, stored] = [reply.text(), reply.text()]
  // Scored by the last change, so that others hear of it by asking for what is newer than what they know.
  await store.redis.zadd(`${serviceKey(store.service)}:jobs`, status === 'same' ? 'NX' : 'GT', String(now), settings.name)
  return { status, now, job: { name: settings.name, generation, sinceAt, watermarkAt, image, settings: JSON.parse(stored) } }
}

/** Names of the jobs that were registered anew or changed after an instant, and that instant's successor. */
export async function listChangedJobs(store: Store, afterAt: number): Promise<{ names: string[]; latestAt: number }> {
  const rows = await store.redis.zrangebyscore(`${serviceKey(store.service)}:jobs`, `(${afterAt}`, '+inf', 'WITHSCORES')
  const names = rows.filter((_, index) => index % 2 === 0)
  return { names, latestAt: rows.length === 0 ? afterAt : Number(rows.at(-1)) }
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
    settings: parseJson(fields['settings'] ?? ''),
  }
}

/** Ten bytes of SHA-256, base64url: names of images and fingerprints, not secrets. */
function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 14)
}

/** A stored row that is no JSON is a bad row (reported by its reader), not a reason to stop. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
