import type { SlotId } from '@cronce/core'
import { serviceKey } from './keys.ts'
import { readReply } from './reply.ts'
import type { Store } from './store.ts'

/**
 * A5: which of the service's sets a job is in.
 * - `watch`: every job, scored by when its slots are to be looked at next: its next slot plus a claim lease, or sooner while
 *   something is open. So a claim whose replica died is found without a word from the dead, and an idle job costs nothing.
 * - `open`: jobs with runs under way, scored by when their tasks are to be looked at.
 * - `tombstones`: jobs that were removed for good (T8), scored by when history no longer reaches back to them.
 */
export type WorkSet = 'watch' | 'open' | 'tombstones'

/** A job that a sweep took, and the score it has while the sweep looks: what puts it off or clears it. */
export interface TakenJob {
  readonly job: string
  readonly score: number
}

/** Asks for a look at these jobs at `lookAt` or sooner. Written before the job's own write, so that no crash leaves work unseen. */
export async function askForLook(
  store: Store,
  set: WorkSet,
  looks: readonly { job: string; lookAt: number }[],
): Promise<void> {
  if (looks.length === 0) return
  const pairs = looks.flatMap(({ job, lookAt }) => [String(lookAt), job])
  await store.redis.zadd(`${serviceKey(store.service)}:${set}`, 'LT', ...pairs)
}

/** The jobs whose time to be looked at has come; each is put off, so that a fleet looks at it once. */
export async function takeJobs(
  store: Store,
  set: WorkSet,
  options: { putOffMs: number; most: number },
): Promise<{ now: number; jobs: TakenJob[] }> {
  const reply = readReply(await store.span('take', [set, options.putOffMs, options.most]))
  const now = reply.number()
  const jobs: TakenJob[] = []
  while (reply.more()) jobs.push({ job: reply.text(), score: reply.number() })
  return { now, jobs }
}

/** A sweep has looked: the job is looked at again at `lookAt`, or leaves the set where that is undefined. */
export async function putOffJob(
  store: Store,
  set: WorkSet,
  look: TakenJob & { lookAt: number | undefined },
): Promise<void> {
  await store.span('put-off', [set, look.job, look.score, look.lookAt ?? ''])
}

/** Says that these jobs have runs under way, to be looked at by a sweep at `lookAt` or sooner. */
export function hintOpenWork(store: Store, jobs: readonly string[], lookAt: number): Promise<void> {
  return askForLook(
    store,
    'open',
    jobs.map((job) => ({ job, lookAt })),
  )
}

/** The jobs with runs under way whose time to be looked at has come. */
export function takeOpenJobs(
  store: Store,
  options: { putOffMs: number; most: number },
): Promise<{ now: number; jobs: TakenJob[] }> {
  return takeJobs(store, 'open', options)
}

/** A sweep found no run of this job under way. */
export function clearOpenJob(store: Store, taken: TakenJob): Promise<void> {
  return putOffJob(store, 'open', { ...taken, lookAt: undefined })
}

/** One thing that should be on the queue. */
export type RepairRow =
  | {
      readonly kind: 'slot' | 'plan' | 'chunk' | 'done'
      readonly id: SlotId
      readonly number: number
      /** Where the run began, and for which payload version; undefined where its record does not say. */
      readonly queue: string | undefined
      readonly version: number | undefined
    }
  | { readonly kind: 'view'; readonly deadLetterId: string }

/** W3, W8: what should be on the queue of a job and has been quiet for a while. `open` 0: the job has nothing open. */
export async function listQuietWork(
  store: Store,
  job: string,
  options: { quietMs: number; most: number },
): Promise<{ now: number; open: number; unrecorded: number; rows: RepairRow[] }> {
  const reply = readReply(await store.job(job, 'repair', [options.quietMs, options.most]))
  const [now, open, unrecorded] = [reply.number(), reply.number(), reply.number()]
  const rows: RepairRow[] = []
  while (reply.more()) {
    const [kind, id, number] = [reply.text(), reply.text(), reply.number()]
    const [queue, version] = [reply.text() || undefined, Number(reply.text()) || undefined]
    rows.push(
      kind === 'view'
        ? { kind, deadLetterId: id }
        : { kind: kind as 'slot' | 'plan' | 'chunk' | 'done', id: id as SlotId, number, queue, version },
    )
  }
  return { now, open, unrecorded, rows }
}
