import { parseJobSettings, type SlotKey } from '@cronce/core'
import { listJobsToLookAt, readFleetFacts, readJobFacts, type Store } from '@cronce/store'
import { livenessOf } from './liveness.ts'
import { overdueReason } from './overdue-reason.ts'
import { overdueSlots } from './overdue-slots.ts'

/** A slot that is overdue, for people. */
export interface Overdue {
  readonly slot: SlotKey
  readonly job: string
  readonly kind: 'start' | 'finish'
  /** How long it has been overdue: since the end of its tolerance. */
  readonly sinceMs: number
  readonly reason: string
}

export interface ScheduleHealth {
  readonly status: 'ok' | 'overdue'
  /** The longest overdue first; at most 1,000. */
  readonly overdue: readonly Overdue[]
}

/** Jobs that are read together. */
const BATCH = 100

const MOST_OVERDUE = 1_000

/**
 * What is overdue now, by the schedules and the ledger: not by what any watchdog raised, so it answers as well where none runs.
 * Its cost grows with the jobs that are due or under way, not with all of them (A5).
 *
 * @throws what ioredis throws where Redis is out of reach
 * @example
 * app.get('/healthz/schedules', async (_, reply) => {
 *   const health = await scheduleHealth(store)
 *   return reply.code(health.status === 'ok' ? 200 : 503).send(health)
 * })
 */
export async function scheduleHealth(store: Store): Promise<ScheduleHealth> {
  const fleet = livenessOf(await readFleetFacts(store))
  const names = await listJobsToLookAt(store, fleet.now)
  const overdue: Overdue[] = []
  for (let start = 0; start < names.length && overdue.length < MOST_OVERDUE; start += BATCH) {
    const facts = await Promise.all(names.slice(start, start + BATCH).map((name) => readJobFacts(store, name)))
    for (const job of facts) {
      const settings = job === undefined ? undefined : parseJobSettings(job.settings).ok
      if (job === undefined || settings === undefined) continue
      for (const slot of overdueSlots(job, settings).overdue) {
        const reason = overdueReason(slot, { facts: job, settings, fleet })
        overdue.push({ slot: slot.slot, job: job.name, kind: slot.kind, sinceMs: job.now - slot.deadlineAt, reason })
      }
    }
  }
  return {
    status: overdue.length === 0 ? 'ok' : 'overdue',
    overdue: overdue.toSorted((a, b) => b.sinceMs - a.sinceMs).slice(0, MOST_OVERDUE),
  }
}
