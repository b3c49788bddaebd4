import { announceChange, askForLook, readTime, type StoredPause, resumeJob as writeResume } from '@cronce/store'
import type { ServiceAccess } from './access.ts'
import { requireJob } from './known-job.ts'
import { authorize, type Operator } from './operator.ts'
import { recordAction } from './record-action.ts'
import { LONGEST_NOTE, requireText } from './request-faults.ts'

export interface ResumeJobRequest {
  readonly job: string
  readonly operator: Operator
  readonly note?: string | undefined
  /** What becomes of slots missed meanwhile. Default: what the pause said. */
  readonly missed?: 'skip' | 'catch-up' | undefined
  /** The instant (epoch ms) of the pause that was seen: another one is left as it is. Default: whichever there is. */
  readonly pausedAt?: number | undefined
}

export interface ResumeJobResult {
  readonly job: string
  /** `already`: it is not paused, or is being resumed. `other`: it is paused, and not by the pause that was seen. */
  readonly status: 'resuming' | 'already' | 'other'
  /** The pause as it stands; undefined where there is none, or a replica has ended it by now. */
  readonly pause: StoredPause | undefined
}

/**
 * T10: ends a pause. A replica cuts what was missed meanwhile, once, then the job starts runs again.
 *
 * @throws CronceError CRONCE_JOB_UNKNOWN, CRONCE_NOT_ALLOWED, CRONCE_INPUT_INVALID
 */
export async function resumeJob(
  { store }: Pick<ServiceAccess, 'store'>,
  request: ResumeJobRequest,
): Promise<ResumeJobResult> {
  const { job, missed, pausedAt } = request
  const by = authorize(request.operator, 'resume')
  const note = request.note === undefined ? '' : requireText('note', request.note, LONGEST_NOTE)
  await requireJob(store, job)
  const asked = { operator: request.operator, action: 'resume', job, note } as const
  return await recordAction<ResumeJobResult>({ store }, asked, async () => {
    // A5: before the resume, so that the cut does not wait for the job's next slot.
    await askForLook(store, 'watch', [{ job, lookAt: await readTime(store) }])
    const status = await writeResume(store, job, {
      ...{ by, note },
      ...(missed === undefined ? {} : { missed }),
      ...(pausedAt === undefined ? {} : { pausedAt }),
    })
    await announceChange(store, job)
    const { pause } = (await requireJob(store, job)).stored
    if (status === 'other') return { answer: { job, status, pause }, end: 'unchanged' }
    if (status !== 'resuming') return { answer: { job, status: 'already', pause }, end: 'unchanged' }
    return { answer: { job, status, pause }, end: { result: status } }
  })
}
