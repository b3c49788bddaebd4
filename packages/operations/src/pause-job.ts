import { announceChange, readTime, type StoredPause, pauseJob as writePause } from '@cronce/store'
import type { ServiceAccess } from './access.ts'
import { requireJob } from './known-job.ts'
import { authorize, type Operator } from './operator.ts'
import { recordAction } from './record-action.ts'
import { LONGEST_NOTE, refused, requireText } from './request-faults.ts'

export interface PauseJobRequest {
  readonly job: string
  readonly operator: Operator
  /** Why; shown wherever the job is, and the reason of the slots that it drops. */
  readonly note?: string | undefined
  /** It ends by itself at this instant (epoch ms), or after this long; by default only a resume ends it. */
  readonly until?: { readonly at: number } | { readonly afterMs: number } | undefined
  /** What becomes of slots missed meanwhile: dropped as one gap, or cut by the job's catch-up policy. Default `skip`. */
  readonly missed?: 'skip' | 'catch-up' | undefined
}

export interface PauseJobResult {
  readonly job: string
  /** `already`: it was paused before, and stays as it was. */
  readonly status: 'paused' | 'already'
  /** The pause that is in force; undefined where a replica has ended it by now. */
  readonly pause: StoredPause | undefined
}

/**
 * T10: stops starts of a job, those of claimed slots included, never a running run nor a run by hand.
 *
 * @throws CronceError CRONCE_JOB_UNKNOWN, CRONCE_NOT_ALLOWED, CRONCE_INPUT_INVALID
 */
export async function pauseJob(
  { store }: Pick<ServiceAccess, 'store'>,
  request: PauseJobRequest,
): Promise<PauseJobResult> {
  const { job, until, missed = 'skip' } = request
  const by = authorize(request.operator, 'pause')
  const note = request.note === undefined ? '' : requireText('note', request.note, LONGEST_NOTE)
  await requireJob(store, job)
  const now = await readTime(store)
  const untilAt = until === undefined ? undefined : 'at' in until ? until.at : now + until.afterMs
  if (untilAt !== undefined && !(untilAt > now)) {
    throw refused('until', `an instant after now, ${new Date(now).toISOString()}`, new Date(untilAt).toISOString())
  }
  const ends = untilAt === undefined ? {} : { untilAt }
  const asked = { operator: request.operator, action: 'pause', job, note } as const
  return await recordAction<PauseJobResult>({ store }, asked, async () => {
    const status = await writePause(store, job, { by, note, missed, ...ends })
    // Replicas learn when it ends; one that does not hear of it finds out at the job's next slot.
    await announceChange(store, job)
    const { stored } = await requireJob(store, job)
    const { pause } = stored
    if (status !== 'paused') return { answer: { job, status: 'already', pause }, end: 'unchanged' }
    return { answer: { job, status, pause }, end: { result: status } }
  })
}
