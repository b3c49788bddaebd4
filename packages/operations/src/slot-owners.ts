import { CronceError, type JobSettings, parseJobSettings, spreadOffsetMs } from '@cronce/core'
import { listGenerations, type Store, type StoredJob, zoneHashOf } from '@cronce/store'
import { type DatedSchedule, type OwedSpan, owedSpans } from './audit-owed.ts'
import { requireJob } from './known-job.ts'

/** A job that slots may be started of by hand, and which generation owns which slot. */
export interface OwnedJob {
  readonly stored: StoredJob
  /** In force: what is started runs by these, under the schedule that owned its slot (T7). */
  readonly settings: JobSettings
  /** The spans of its generations, oldest first, to the end of the calendar. */
  readonly owners: readonly OwedSpan[]
}

/**
 * Reads a job with the schedules of all its generations. Refuses one that starts nothing: what waits on the queue would neither
 * run nor end.
 *
 * @throws CronceError CRONCE_JOB_UNKNOWN, CRONCE_JOB_UNREADABLE, CRONCE_JOB_HELD
 */
export async function requireOwnedJob(store: Store, job: string): Promise<OwnedJob> {
  const { stored, settings, fault } = await requireJob(store, job)
  if (settings === undefined) throw new CronceError('CRONCE_JOB_UNREADABLE', { job, reason: fault })
  const held = reasonHeld(stored)
  if (held !== undefined) throw new CronceError('CRONCE_JOB_HELD', { job, reason: held })
  // A2: another tzdata makes other slots, and other slot keys; no claim would help.
  if (zoneHashOf(settings.schedule) !== stored.zoneHash) {
    const reason = "this process's tzdata gives its zone other transitions than the registered one's"
    throw new CronceError('CRONCE_JOB_UNREADABLE', { job, reason })
  }
  return { stored, settings, owners: owedSpans(await readDated(store, stored), ALWAYS) }
}

const ALWAYS = { goneAt: undefined, now: Number.POSITIVE_INFINITY }

function reasonHeld({ pause, goneAt, restoration }: StoredJob): string | undefined {
  if (goneAt !== undefined) return 'it was removed'
  if (restoration !== undefined) return 'the store lost writes, and what replicas remember is being merged'
  if (pause === undefined) return undefined
  if (pause.state === 'resuming') return 'it is being resumed, and what was missed meanwhile is not cut yet'
  return `it is paused by ${pause.by}${pause.note === '' ? '' : `: ${pause.note}`}`
}

async function readDated(store: Store, stored: StoredJob): Promise<DatedSchedule[]> {
  const generations = await listGenerations(store, stored.name)
  return generations.map(({ generation, settings, sinceAt, goneAt }) => {
    const { ok, faults = [] } = parseJobSettings(settings)
    if (ok === undefined) {
      const fault = faults.map(({ path, message }) => `${path}: ${message}`).join('; ')
      const reason = `generation ${generation}: ${fault}`
      throw new CronceError('CRONCE_JOB_UNREADABLE', { job: stored.name, reason })
    }
    // A store that lost writes knows a later start than its replicas remembered (S2).
    const since = generation === stored.generation ? Math.min(sinceAt, stored.sinceAt) : sinceAt
    return { schedule: ok.schedule, spreadMs: spreadOffsetMs(stored.name, ok.schedule), sinceAt: since, goneAt }
  })
}

/** The span that an instant lies in; undefined before the first registration and while the job was removed. */
export function ownerOf(owners: readonly OwedSpan[], at: number): OwedSpan | undefined {
  return owners.find(({ afterAt, untilAt }) => at > afterAt && at <= untilAt)
}
