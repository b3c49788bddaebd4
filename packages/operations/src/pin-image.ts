import { announceChange, askForLook, listImages, readTime, switchImage } from '@cronce/store'
import type { ServiceAccess } from './access.ts'
import { requireJob } from './known-job.ts'
import { authorize, type Operator } from './operator.ts'
import { recordAction } from './record-action.ts'
import { refused } from './request-faults.ts'

export interface PinImageRequest {
  readonly job: string
  /** One of the job's known images, as `jobHistory` names them. */
  readonly image: string
  readonly operator: Operator
}

export interface PinImageResult {
  readonly job: string
  readonly status:
    | 'pinned'
    /** It is in force already. */
    | 'same'
    /** A registration or a rollback got ahead; look again. */
    | 'stale'
}

/**
 * T6: puts another known definition of a job in force, such as the one before a bad deploy. Where its schedule is another it is an
 * edit, from now on. An image that no live replica carries gives way again after one lease; so does a pin to a newer registration.
 *
 * @throws CronceError CRONCE_JOB_UNKNOWN, CRONCE_NOT_ALLOWED, CRONCE_INPUT_INVALID
 */
export async function pinImage(
  { store }: Pick<ServiceAccess, 'store'>,
  { job, image, operator }: PinImageRequest,
): Promise<PinImageResult> {
  const by = authorize(operator, 'pin-image')
  const [{ stored }, images] = await Promise.all([requireJob(store, job), listImages(store, job)])
  if (!images.some((known) => known.image === image)) {
    throw refused('image', `one of ${images.map((known) => known.image).join(', ')}`, image)
  }
  if (stored.image === image && stored.target === image) return { job, status: 'same' }
  const asked = { operator, action: 'pin-image', job, selection: image } as const
  return await recordAction<PinImageResult>({ store }, asked, async () => {
    await askForLook(store, 'watch', [{ job, lookAt: await readTime(store) }])
    const status = await switchImage(store, job, { by, image: stored.image, to: image })
    await announceChange(store, job)
    if (status !== 'pinned') return { answer: { job, status: 'stale' }, end: 'unchanged' }
    return { answer: { job, status }, end: { result: status } }
  })
}
