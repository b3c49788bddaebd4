import { CronceError, type ErrorCode, formatSlotId, parseJobSettings, slotsBetween, spreadOffsetMs } from '@cronce/core'
import {
  announceChange,
  askForLook,
  listGaps,
  readTime,
  removeStoredJob,
  type Store,
  type StoredJob,
  slotIds,
} from '@cronce/store'
import type { ServiceAccess } from './access.ts'
import { requireJob } from './known-job.ts'
import { authorize, type Operator } from './operator.ts'
import { recordAction } from './record-action.ts'
import { LONGEST_NOTE, requireText } from './request-faults.ts'

export interface RemoveJobRequest {
  readonly job: string
  readonly operator: Operator
  /** Why; kept in the job's journal. */
  readonly note?: string | undefined
}

export interface RemoveJobResult {
  readonly job: string
  readonly status: 'removed' | 'already'
}

/** How often a removal is reckoned anew: each time, a replica has taken or recorded a slot meanwhile. */
const TRIES = 10

/**
 * T8: removes a job that was added at run time. Slots that nobody has taken yet are not owed; those that wait are dropped; runs under
 * way go on. Its history stays for the history period, and adding it again is a new registration. Twice is as once.
 *
 * @throws CronceError CRONCE_JOB_UNKNOWN, CRONCE_JOB_CARRIED, CRONCE_SLOT_BUSY, CRONCE_NOT_ALLOWED, CRONCE_INPUT_INVALID
 */
export async function removeJob(
  { store }: Pick<ServiceAccess, 'store'>,
  request: RemoveJobRequest,
): Promise<RemoveJobResult> {
  const { job } = request
  const by = authorize(request.operator, 'remove-job')
  const note = request.note === undefined ? '' : requireText('note', request.note, LONGEST_NOTE)
  const refusals: readonly ErrorCode[] = ['CRONCE_JOB_UNKNOWN', 'CRONCE_JOB_CARRIED', 'CRONCE_SLOT_BUSY']
  const asked = { operator: request.operator, action: 'remove-job', job, note, refusals } as const
  return await recordAction({ store }, asked, async () => {
    const status = await remove(store, { job, by, note })
    return { answer: { job, status }, end: status === 'removed' ? { result: status } : 'unchanged' }
  })
}

async function remove(
  store: Store,
  { job, by, note }: { job: string; by: string; note: string },
): Promise<RemoveJobResult['status']> {
  for (let tries = 0; tries < TRIES; tries++) {
    const { stored } = await requireJob(store, job)
    if (!stored.dynamic) throw new CronceError('CRONCE_JOB_CARRIED', { job })
    if (stored.goneAt !== undefined) return 'already'
    const now = await readTime(store)
    // A5: a replica buries it, and finds it by this where it hears nothing else.
    await askForLook(store, 'watch', [{ job, lookAt: now }])
    const removal = { by, note, image: stored.image, watermarkAt: stored.watermarkAt }
    const { known, goneAt } = await reckon(store, stored, now)
    const { status, left } = await removeStoredJob(store, job, { ...removal, known, goneAt })
    if (status === 'stale') continue
    for (let rest = left; rest > 0; ) rest = (await removeStoredJob(store, job, { ...removal, known, goneAt })).left
    await announceChange(store, job)
    return 'removed'
  }
  throw new CronceError('CRONCE_SLOT_BUSY', { slot: `a slot of "${job}"`, state: 'being taken' })
}

/** Records that are looked through for the first slot that nobody has taken. */
const MOST_RECORDS = 20_000

/** The instant before the first slot that nobody has taken, and how many records that reckons with. */
async function reckon(store: Store, stored: StoredJob, now: number): Promise<{ known: number; goneAt: number }> {
  const { name, watermarkAt, sinceAt } = stored
  const [ids, gaps] = await Promise.all([
    slotIds(store, name, { fromAt: watermarkAt + 1, untilAt: Number.MAX_SAFE_INTEGER, limit: MOST_RECORDS }),
    listGaps(store, name, { afterAt: watermarkAt, limit: MOST_RECORDS }),
  ])
  const settings = parseJobSettings(stored.settings).ok
  // Of a row that nobody can read, nobody has taken anything since.
  if (settings === undefined) return { known: ids.length, goneAt: Math.max(watermarkAt, sinceAt) }
  const taken = new Set<string>(ids)
  const spreadMs = spreadOffsetMs(name, settings.schedule)
  for (const at of slotsBetween(settings.schedule, Math.max(watermarkAt, sinceAt), now - spreadMs)) {
    const isTaken = taken.has(formatSlotId(at)) || gaps.some(({ fromAt, toAt }) => at > fromAt && at <= toAt)
    if (!isTaken) return { known: ids.length, goneAt: at - 1 }
  }
  return { known: ids.length, goneAt: now }
}
