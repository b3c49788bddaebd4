import { randomUUID } from 'node:crypto'
import { formatSlotId, formatSlotKey, type JobSettings, parseSlotId, type SlotId, type SlotKey } from '@cronce/core'
import type { Enqueuer } from '@cronce/queue'
import { claimManual, type RunRef, recordSlots, registerJob, type Store } from '@cronce/store'

/** A run that a test started. */
export interface StartedRun extends RunRef {
  readonly slot: SlotKey
  /** Does what the trigger does after its add (T3). */
  record(): Promise<void>
  /** Adds the slot's job again, as a late replica would. */
  addAgain(): Promise<void>
}

export interface StartRunOptions {
  readonly store: Store
  readonly enqueuer: Enqueuer
  /** The nominal instant; default: now, by the machine. */
  readonly at?: number
  /** `later` leaves the record to the test: a trigger that is slower than the worker. Default `now`. */
  readonly record?: 'now' | 'later'
}

/** Starts a run by hand, as the trigger would: claims it, puts it on the queue, records it. */
export async function startRun(job: JobSettings, options: StartRunOptions): Promise<StartedRun> {
  const { store, enqueuer, at = new Date().getTime(), record = 'now' } = options
  await registerJob(store, job, { by: 'test' })
  const claim = {
    at,
    token: `token-${at}-${randomUUID()}`,
    leaseMs: 10_000,
    by: 'test',
    release: 'test',
    instant: formatSlotId(at),
  }
  const { id } = await claimManual(store, job.name, claim)
  const add = () => enqueuer.add(job.queue, [{ kind: 'plan', job: job.name, id, number: 0, version: job.version }])
  const writeRecord = async () => {
    const { name, queue, version } = job
    const request = {
      job: name,
      added: [{ id }],
      replica: 'test',
      markerMs: 60_000,
      foreign: false,
      queue,
      version,
      slots: [],
    }
    await recordSlots(store, request)
  }
  await add()
  if (record === 'now') await writeRecord()
  return { job: job.name, id, slot: slotOf(job.name, id), record: writeRecord, addAgain: add }
}

function slotOf(job: string, id: SlotId): SlotKey {
  return formatSlotKey({ job, ...(parseSlotId(id) ?? { at: 0 }) })
}
