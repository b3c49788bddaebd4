import { seededRandom } from '@cronce/core'
import { NO_EDITS } from './chaos.ts'
import type { Conduct } from './crew.ts'
import { createJobMix, MIX_QUEUES } from './job-mix.ts'
import { productionJobs } from './production-jobs.ts'
import type { Scenario } from './simulation.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** The UTC day whose slots were counted by a minute-by-minute matcher, and how many there are. */
export const PRODUCTION_SLOTS = 194_102
export const PRODUCTION_DAY = Date.parse('2026-06-01T00:00:00Z')

/** Workers that lose, repeat and delay some of their tasks. */
const CAREFREE: Conduct = {
  durationMs: () => 0,
  lost: 0.001,
  twice: 0.002,
  late: 0.002,
  lateMs: 2 * MINUTE,
  crash: 0.001,
  chunk: 0.02,
}

/** A day of what public services run: replicas die and stand still, nothing is edited. */
export function productionScenario({
  seed,
  replicas,
  hours = 24,
}: {
  seed: number
  replicas: number
  hours?: number
}): Scenario {
  return {
    ...{ seed, replicas },
    jobs: productionJobs(),
    queues: ['default', 'slow'],
    startAt: PRODUCTION_DAY - MINUTE,
    fromAt: PRODUCTION_DAY,
    toAt: PRODUCTION_DAY + hours * HOUR,
    settleMs: 10 * MINUTE,
    rates: NO_EDITS,
    conduct: CAREFREE,
    timing: { heartbeatEvery: '60s' },
    skewMs: 0,
    driftMs: 0,
    // Each wait is a turn to Redis, and there are three million commands.
    waits: 0.1,
    checkEveryMs: HOUR,
    ...(hours === 24 ? { owes: PRODUCTION_SLOTS } : {}),
  }
}

/** Some hours of a few jobs in which everything happens: kills, stops, wrong clocks, deploys, rollbacks, outages, pauses. */
export function mixedScenario({ seed, replicas }: { seed: number; replicas?: number }): Scenario {
  const random = seededRandom(Math.imul(seed, 0x85ebca6b) + 7)
  const mix = createJobMix(random)
  const startAt = PRODUCTION_DAY + Math.floor(random() * 24) * HOUR + Math.floor(random() * HOUR)
  const often = () => (random() < 0.3 ? 0 : random() * 2)
  const slow = random() * 6 * MINUTE
  const slowJob = Math.floor(random() * 8)
  return {
    seed,
    replicas: replicas ?? 2 + Math.floor(random() * 4),
    jobs: mix.jobs,
    queues: MIX_QUEUES,
    mix,
    startAt,
    fromAt: startAt,
    toAt: startAt + Math.floor((0.75 + random() * 0.75) * HOUR),
    settleMs: 30 * MINUTE,
    rates: {
      kill: 12 * often(),
      freeze: 10 * often(),
      skew: 6 * often(),
      flaky: 10 * often(),
      deploy: 3 * often(),
      outage: often(),
      pause: 2 * often(),
    },
    conduct: {
      durationMs: (job) => (job === `job-${slowJob}` ? slow : 0),
      lost: random() * 0.05,
      twice: random() * 0.1,
      late: random() * 0.1,
      lateMs: 5 * MINUTE,
      crash: random() * 0.05,
      chunk: random(),
    },
    timing: {},
    skewMs: random() < 0.5 ? 0 : 10 ** (random() * 5),
    waits: 0.3,
    driftMs: random() < 0.5 ? 20 : 2_000,
    checkEveryMs: 10 * MINUTE,
  }
}
