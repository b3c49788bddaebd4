import { jobKey } from './keys.ts'
import { parseStored, readReply } from './reply.ts'
import type { Store } from './store.ts'

export interface PauseRequest {
  readonly by: string
  readonly note: string
  /** It ends by itself then; undefined: only by a resume. */
  readonly untilAt?: number
  /** What becomes of slots missed meanwhile: dropped as one gap, or cut by the job's catch-up policy. */
  readonly missed: 'skip' | 'catch-up'
}

/** T10: stops starts of a job, claimed ones included, never a running run. */
export async function pauseJob(
  store: Store,
  job: string,
  request: PauseRequest,
): Promise<'paused' | 'already' | 'unknown'> {
  const args = ['pause', request.by, request.note, request.untilAt ?? 0, request.missed]
  const [status] = await store.job(job, 'pause', args)
  return status as 'paused' | 'already' | 'unknown'
}

/**
 * T10: ends a pause; a trigger cuts what was missed meanwhile. `missed` overrides what the pause said; with `pausedAt` only the pause
 * of that instant is ended.
 */
export async function resumeJob(
  store: Store,
  job: string,
  request: { by: string; note: string; missed?: 'skip' | 'catch-up'; pausedAt?: number },
): Promise<'resuming' | 'already' | 'other' | 'unknown'> {
  const { by, note, missed = '', pausedAt = '' } = request
  const [status] = await store.job(job, 'pause', ['resume', by, note, 0, missed, pausedAt])
  return status as 'resuming' | 'already' | 'other' | 'unknown'
}

/** T8: dates a job as gone, if this image is still the one in force. `renamedTo` names the job that takes its place. */
export async function retireJob(
  store: Store,
  job: string,
  request: { by: string; image: string; renamedTo?: string },
): Promise<'gone' | 'stale' | 'unknown'> {
  const { by, image, renamedTo } = request
  const [status] = await store.job(job, 'retire', [
    by,
    image,
    renamedTo === undefined ? 'gone' : 'renamed',
    renamedTo ?? '',
  ])
  return status as 'gone' | 'stale' | 'unknown'
}

/** A removal by a person, at once. */
export interface Removal {
  readonly by: string
  readonly note: string
  readonly image: string
  /** The instant before the job's first slot that nobody has taken: nothing later is owed. */
  readonly goneAt: number
  /** The watermark, and the records after it, that `goneAt` was reckoned with. */
  readonly watermarkAt: number
  readonly known: number
}

/** T8: removes a job now; what waits of it is dropped, 100 slots a call. `stale`: reckon anew. */
export async function removeStoredJob(
  store: Store,
  job: string,
  removal: Removal,
): Promise<{ status: 'gone' | 'stale' | 'unknown'; left: number }> {
  const { by, note, image, goneAt, watermarkAt, known } = removal
  const reply = readReply(await store.job(job, 'retire', [by, image, 'removed', note, goneAt, watermarkAt, known]))
  const status = reply.text() as 'gone' | 'stale' | 'unknown'
  reply.number()
  return { status, left: reply.number() }
}

/** T6: another known image is to be in force, if this one still is: a rollback, or an operator's pin. */
export async function switchImage(
  store: Store,
  job: string,
  request: { by: string; image: string; to: string },
): Promise<'pinned' | 'stale' | 'unknown'> {
  const [status] = await store.job(job, 'retire', [request.by, request.image, 'pin', request.to])
  return status as 'pinned' | 'stale' | 'unknown'
}

/** One known image of a job and when it was first registered. */
export interface KnownImage {
  readonly image: string
  readonly at: number
}

/** The known images of a job, newest first. */
export async function listImages(store: Store, job: string): Promise<KnownImage[]> {
  const rows = await store.redis.zrevrange(`${jobKey(store.service, job)}:images`, 0, 99, 'WITHSCORES')
  return rows.flatMap((image, index) => (index % 2 === 0 ? [{ image, at: Number(rows[index + 1]) }] : []))
}

/** One registration of an image: who brought these settings, and when. */
export interface ImageRegistration extends KnownImage {
  readonly by: string
  /** As stored. */
  readonly settings: unknown
}

/** Who registered the known images of a job, newest first. */
export async function listRegistrations(store: Store, job: string): Promise<ImageRegistration[]> {
  const images = await listImages(store, job)
  const base = jobKey(store.service, job)
  const rows = await Promise.all(
    images.map(({ image }) => store.redis.hmget(`${base}:image:${image}`, 'by', 'settings')),
  )
  return images.map((image, index) => {
    const [by, settings] = rows[index] ?? []
    return { ...image, by: by ?? '', settings: parseStored(settings ?? '') }
  })
}

/** What people did to a job. */
export interface JournalEntry {
  readonly at: number
  readonly event: string
  readonly by: string
  readonly note: string
}

/** What people did to a job, oldest first. */
export async function readJournal(store: Store, job: string): Promise<JournalEntry[]> {
  const lines = await store.redis.lrange(`${jobKey(store.service, job)}:journal`, 0, -1)
  return lines.map((line) => JSON.parse(line) as JournalEntry)
}
