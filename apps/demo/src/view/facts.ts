import { formatDuration, type JobSettings } from '@cronce/core'
import { jobs, packageReport } from '@cronce/jobs'
import { packageSource } from '@cronce/jobs/sources'
import { listOverdue } from '@cronce/operations'
import { countDeadLetters, listSlots } from '@cronce/store'
import { percentile } from '../counting/percentile.ts'
import type { DemoSystem } from '../system.ts'
import type { Facts, JobFacts } from './frame.ts'

/** An end of a process. */
export interface EndNote {
  readonly at: number
  readonly text: string
}

export interface Sight {
  readonly system: DemoSystem
  /** Newest first. */
  readonly ends: readonly EndNote[]
  readonly redisUrl: string
  readonly signInUrl: string | undefined
  readonly startedAt: number
  readonly now: number
}

const SHOWN_ENDS = 3
/** Gathers what the live view shows: who did what from the logs, what became of it from the ledger. */
export async function gatherFacts({ system, ends, redisUrl, signInUrl, startedAt, now }: Sight): Promise<Facts> {
  const { fleet, watch, receiver, access } = system
  const { store } = access
  const [[run], overdue, packages, dead] = await Promise.all([
    // The newest: somebody may have run it again by hand.
    listSlots(store, packageReport.name, { limit: 1 }),
    listOverdue(store),
    packageSource.all(),
    Promise.all(jobs.map(({ name }) => countDeadLetters(store, name))),
  ])
  return {
    redisUrl,
    signInUrl,
    upMs: now - startedAt,
    replicas: fleet.running('replica').map(({ id }) => id),
    workers: fleet.running('worker').map(({ id }) => id),
    ends: ends.slice(0, SHOWN_ENDS).map(({ at, text }) => `${Math.round((now - at) / 1000)} s ago: ${text}`),
    jobs: jobs.map(
      (job): JobFacts => ({ name: job.name, schedule: scheduleText(job), slots: slotsOf(system, job.name) }),
    ),
    report: run && {
      slot: run.slot,
      state: run.state,
      planned: run.entities.planned,
      done: run.entities.done,
      dead: run.entities.dead,
      expected: packages.length,
    },
    overdue: overdue.map(({ slot, sinceMs, kind, reason }) => {
      const missing = kind === 'start' ? 'started' : 'finished'
      return `${slot} due ${Math.round(sinceMs / 1000)} s ago, not ${missing}: ${reason}`
    }),
    attempts: watch.attempts.total(),
    lateness: { p50: percentile(watch.latenesses, 50), p99: percentile(watch.latenesses, 99) },
    deadLetters: dead.reduce((sum, count) => sum + count, 0),
    effects: receiver.counts,
  }
}

function slotsOf({ watch }: DemoSystem, job: string): JobFacts['slots'] {
  return watch.recent(job).map((slot) => ({ ...slot, claimedBy: slot.claimedBy ?? 'by hand' }))
}

function scheduleText({ schedule }: JobSettings): string {
  return schedule.kind === 'every'
    ? `every ${formatDuration(schedule.periodMs)}`
    : `${schedule.expression} ${schedule.zone}`
}
