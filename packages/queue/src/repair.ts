import { listQuietWork, markViewed, type RepairRow, readDeadLetter, type Store } from '@cronce/store'
import type { Enqueuer } from './enqueuer.ts'
import { redactionOf, redactLetter } from './redact-letter.ts'
import type { Task } from './task.ts'

export interface RepairOptions {
  readonly store: Store
  readonly enqueuer: Enqueuer
  readonly job: string
  /** The job's queue and payload version, as its definition in force says: for runs whose record says nothing. */
  readonly queue: string
  readonly version: number
  /** Work that nothing was heard of for this long is added again. */
  readonly quietMs: number
}

export interface Repaired {
  /** Open work of the job, 0: it may leave the set of open jobs. */
  readonly open: number
  /** Of it, slots that are due or claimed: a trigger's to look at. */
  readonly unrecorded: number
  /** Tasks added again, under their same ids. Most of them were there all along. */
  readonly added: number
}

/** How much one sweep looks at, per job. */
const MOST_ROWS = 100

/**
 * W3: adds again what the ledger says is on the queue and nothing was heard of: slot jobs, plan steps, chunks and `done`s that
 * BullMQ failed, dropped, or never got. W8: brings the dead-letter queue up to date.
 */
export async function repairJob({ store, enqueuer, job, queue, version, quietMs }: RepairOptions): Promise<Repaired> {
  const { open, unrecorded, rows } = await listQuietWork(store, job, { quietMs, most: MOST_ROWS })
  const byQueue = new Map<string, Task[]>()
  for (const row of rows) {
    if (row.kind === 'view') continue
    const place = row.queue ?? queue
    byQueue.set(place, [...(byQueue.get(place) ?? []), { ...taskOf(row), job, version: row.version ?? version }])
  }
  for (const [place, tasks] of byQueue) await enqueuer.add(place, tasks)
  const behind = rows.flatMap((row) => (row.kind === 'view' ? [row.deadLetterId] : []))
  await showDeadLetters({ store, enqueuer, job, ids: behind })
  return { open, unrecorded, added: rows.length - behind.length }
}

function taskOf(row: Exclude<RepairRow, { kind: 'view' }>) {
  return { kind: row.kind === 'slot' ? ('plan' as const) : row.kind, id: row.id, number: row.number }
}

/** W8: shows these dead letters on the dead-letter queue as the store has them, without what their job does not show. */
export async function showDeadLetters(options: {
  store: Store
  enqueuer: Enqueuer
  job: string
  ids: readonly string[]
}): Promise<void> {
  const { store, enqueuer, job, ids } = options
  if (ids.length === 0) return
  const redaction = await redactionOf(store, job)
  const letters = await Promise.all(ids.map((id) => readDeadLetter(store, job, id)))
  const found = letters.filter((letter) => letter !== undefined)
  await enqueuer.showDeadLetters(found.map((letter) => redactLetter(letter, redaction)))
  await markViewed(store, job, ids)
}
