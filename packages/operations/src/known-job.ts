import { CronceError, type JobSettings, nearestName, parseJobSettings } from '@cronce/core'
import { addressOf, listJobNames, listReplicas, listWorkers, readJob, type Store, type StoredJob } from '@cronce/store'

/** A job as the store has it, with its settings where this release can read them. */
export interface KnownJob {
  readonly stored: StoredJob
  /** Undefined: a bad row, or one of a newer release. */
  readonly settings: JobSettings | undefined
  /** Why the settings cannot be read; empty where they can. */
  readonly fault: string
}

/** A job, or undefined. Never throws for a bad row. */
export async function findJob(store: Store, name: string): Promise<KnownJob | undefined> {
  const stored = await readJob(store, name)
  if (stored === undefined) return undefined
  const { ok, faults = [] } = parseJobSettings(stored.settings)
  return { stored, settings: ok, fault: faults.map(({ path, message }) => `${path}: ${message}`).join('; ') }
}

/** @throws CronceError CRONCE_JOB_UNKNOWN */
export async function requireJob(store: Store, name: string): Promise<KnownJob> {
  const job = await findJob(store, name)
  if (job !== undefined) return job
  const nearest = nearestName(name, await listJobNames(store))
  const suggestion = nearest === undefined ? '' : `, did you mean "${nearest}"?`
  throw new CronceError('CRONCE_JOB_UNKNOWN', { owner: `service "${store.service}"`, name, suggestion })
}

/** @throws CronceError CRONCE_JOB_UNKNOWN, CRONCE_JOB_UNREADABLE */
export async function requireSettings(store: Store, name: string): Promise<JobSettings> {
  const { settings, fault } = await requireJob(store, name)
  if (settings !== undefined) return settings
  throw new CronceError('CRONCE_JOB_UNREADABLE', { job: name, reason: fault })
}

/**
 * That the service is known to Redis at all: a mistyped name is no empty list.
 *
 * @throws CronceError CRONCE_SERVICE_UNKNOWN
 */
export async function requireService(store: Store): Promise<void> {
  const known = await Promise.all([listJobNames(store), listReplicas(store, 0), listWorkers(store, 0)])
  if (known.some((list) => list.length > 0)) return
  throw new CronceError('CRONCE_SERVICE_UNKNOWN', { address: addressOf(store.redis), service: store.service })
}
