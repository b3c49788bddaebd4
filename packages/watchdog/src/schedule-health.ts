import { parseJobSettings, type SlotKey } from '@cronce/core'
import { listJobsToLookAt, readFleetFacts, readJobFacts, type Store } from '@cronce/store'
import { livenessOf } from './liveness.ts'
import { type OverdueContext, overdueReason } from './overdue-reason.ts'
import { type OverdueSlot, overdueSlots } from './overdue-slots.ts'

/** A slot that is overdue, for people. */
export interface Overdue {
  readonly slot: SlotKey
  readonly job: string
  readonly kind: 'start' | 'finish'
  /** The nominal instant, epoch ms. */
  readonly at: number
  /** How long ago it was due: since its effective instant. */
  readonly sinceMs: number
  /** The tolerance that it went beyond. */
  readonly toleranceMs: number
  readonly reason: string
  /** How many slots it stands for: 1, but where there are very many of one job. */
  readonly count: number
  /** The job's zone; undefined where the schedule is an interval, whose clock is UTC. */
  readonly zone: string | undefined
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
  const names = await listJobsToLookAt(store)
  const overdue: Overdue[] = []
  for (let start = 0; start < names.length && overdue.length < MOST_OVERDUE; start += BATCH) {
    const facts = await Promise.all(names.slice(start, start + BATCH).map((name) => readJobFacts(store, name)))
    for (const job of facts) {
      const settings = job === undefined ? undefined : parseJobSettings(job.settings).ok
      if (job === undefined || settings === undefined) continue
      for (const slot of overdueSlots(job, settings).overdue) overdue.push(rowOf(slot, { facts: job, settings, fleet }))
    }
  }
  return {
    status: overdue.length === 0 ? 'ok' : 'overdue',
    overdue: overdue.toSorted((a, b) => b.sinceMs - a.sinceMs).slice(0, MOST_OVERDUE),
  }
}

function rowOf(slot: OverdueSlot, context: OverdueContext): Overdue {
  const { kind, at, toleranceMs, count, deadlineAt } = slot
  const { facts, settings } = context
  return {
    ...{ slot: slot.slot, job: facts.name, kind, at, toleranceMs, count },
    sinceMs: facts.now - deadlineAt + toleranceMs,
    reason: overdueReason(slot, context),
    zone: settings.schedule.kind === 'cron' ? settings.schedule.zone : undefined,
  }
}
