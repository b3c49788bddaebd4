import { CronceError, defineJob, type Fault, type JobInput, type JobSettings, parseJobSettings } from '@cronce/core'
import { askForLook, type Registration, readJob, readTime, registerJob } from '@cronce/store'
import type { ServiceAccess } from './access.ts'
import { authorize, type Operator } from './operator.ts'
import { recordAction } from './record-action.ts'

export interface UpsertJobRequest {
  /** What `defineJob` takes, what it makes, or settings as the store has them. Checked by the same rules, all faults at once. */
  readonly job: JobInput | JobSettings
  readonly operator: Operator
}

export interface UpsertJobResult {
  readonly job: string
  readonly status:
    | 'registered'
    /** It is as it was: nothing is dated, nothing is owed anew. */
    | 'same'
    /** Another setting, the same schedule. */
    | 'changed'
    /** T7: another schedule; it is in force when a replica has closed the old one, within a sweep. */
    | 'edited'
  readonly generation: number
}

/**
 * T6: adds or changes a job at run time, for which no image is needed: one per tenant, say. The same definition again changes
 * nothing. Every replica of the service fires it; its workers need a handler of its name.
 *
 * @throws CronceError CRONCE_JOB_INVALID, CRONCE_JOB_CARRIED, CRONCE_NOT_ALLOWED, CRONCE_INPUT_INVALID
 * @example
 * const job = { name: `digest-${tenant}`, schedule: cron('0 7 * * *', { zone }), onCrash: 'skip' } as const
 * await upsertJob(access, { job, operator: { name: 'tenants' } })
 */
export async function upsertJob(
  { store }: Pick<ServiceAccess, 'store'>,
  { job, operator }: UpsertJobRequest,
): Promise<UpsertJobResult> {
  const by = authorize(operator, 'upsert-job')
  const settings = checkJob(job)
  const { name } = settings
  const [stored, now] = await Promise.all([readJob(store, name), readTime(store)])
  // Its images would take it back within a lease (T6).
  if (stored !== undefined && !stored.dynamic && stored.goneAt === undefined) {
    throw new CronceError('CRONCE_JOB_CARRIED', { job: name })
  }
  return await recordAction({ store }, { operator, action: 'upsert-job', job: name }, async () => {
    // A5: the hint first, so that a crash after the registration leaves a job that a sweep finds.
    await askForLook(store, 'watch', [{ job: name, lookAt: now }])
    const registration = await registerJob(store, settings, { by, dynamic: true })
    const { generation } = registration
    const status = STATUS[registration.status]
    const end = status === 'same' ? 'unchanged' : { result: status, counts: { generation } }
    return { answer: { job: name, status, generation }, end }
  })
}

const STATUS: Readonly<Record<Registration['status'], UpsertJobResult['status']>> = {
  registered: 'registered',
  same: 'same',
  changed: 'changed',
  edit: 'edited',
}

function checkJob(job: JobInput | JobSettings): JobSettings {
  const settings = isMade(job) ? readSettings(job) : defineJob(job)
  if (settings.was === undefined) return settings
  const message = 'expected none for a job that is added at run time: remove the former one'
  throw invalid(settings.name, [{ path: 'was', message }])
}

/** What `defineJob` made has its durations in milliseconds, under names that say so. */
function isMade(job: JobInput | JobSettings): job is JobSettings {
  return typeof job === 'object' && job !== null && 'timeoutMs' in job
}

function readSettings({ entity: _, ...settings }: JobSettings & { entity?: unknown }): JobSettings {
  const { ok, faults } = parseJobSettings(settings)
  if (ok !== undefined) return ok
  throw invalid(settings.name, faults)
}

function invalid(name: string, faults: readonly Fault[]): CronceError {
  const summary = faults.map(({ path, message }) => `${path}: ${message}`).join('; ')
  return new CronceError('CRONCE_JOB_INVALID', { name, count: faults.length, summary }, { faults })
}
