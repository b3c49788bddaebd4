import type { SlotId } from '@cronce/core'
import { serviceKey } from './keys.ts'
import { readReply } from './reply.ts'
import type { Store } from './store.ts'

/** A job that may have open work, and the score a sweep gave it: what clears the hint. */
export interface OpenJob {
  readonly job: string
  readonly score: number
}

/** A5: says that these jobs have open work, to be looked at by a sweep from `lookAt` on. */
export async function hintOpenWork(store: Store, jobs: readonly string[], lookAt: number): Promise<void> {
  if (jobs.length === 0) return
  await store.redis.zadd(`${serviceKey(store.service)}:open`, ...jobs.flatMap((job) => [String(lookAt), job]))
}

/** A5: jobs whose time to be looked at has come; each is put off, so that a fleet looks at it once. */
export async function takeOpenJobs(store: Store, options: { putOffMs: number; most: number }): Promise<{ now: number; jobs: OpenJob[] }> {
  const reply = readReply(await store.span('open-take', [options.putOffMs, options.most]))
  const now = reply.number()
  const jobs: OpenJob[] = []
  while (reply.more()) jobs.push({ job: reply.text(), score: reply.number() })
  return { now, jobs }
}

/** A5: a sweep found nothing open. */
export async function clearOpenJob(store: Store, open: OpenJob): Promise<void> {
  await store.span('open-clear', [open.job, open.score])
}

/** One thing that should be on the queue. */
export type RepairRow =
  | { readonly kind: 'slot' | 'plan' | 'chunk' | 'done'; readonly id: SlotId; readonly number: number }
  | { readonly kind: 'view'; readonly deadLetterId: string }

/** W3, W8: what should be on the queue of a job and has been quiet for a while. `open` 0: the job has nothing open. */
export async function listQuietWork(
  store: Store,
  job: string,
  options: { quietMs: number; most: number },
): Promise<{ now: number; open: number; rows: RepairRow[] }> {
  const reply = readReply(await store.job(job, 'repair', [options.quietMs, options.most]))
  const [now, open] = [reply.number(), reply.number()]
  const rows: RepairRow[] = []
  while (reply.more()) {
    const [kind, id, number] = [reply.text(), reply.text(), reply.number()]
    rows.push(kind === 'view' ? { kind, deadLetterId: id } : { kind: kind as 'slot' | 'plan' | 'chunk' | 'done', id: id as SlotId, number })
  }
  return { now, open, rows }
}
