import { type Clock, systemClock } from '@cronce/core'
import { createTrigger, type TriggerOptions } from '@cronce/trigger'
import { pino } from 'pino'
import { type CrashPoint, dieAt } from './crash-point.ts'
import { writeEvents } from './event-lines.ts'
import { type JobSpec, jobOf } from './job-spec.ts'

/** How a replica is told to be: the one argument of this program, as JSON. */
export interface ReplicaConfig
  extends Pick<TriggerOptions, 'claimLease' | 'sweepEvery' | 'readdAfter' | 'heartbeatEvery'> {
  readonly service: string
  readonly redis: string
  readonly id: string
  readonly jobs: readonly JobSpec[]
  readonly points: readonly CrashPoint[]
  readonly casualties: string
  /** How far its clock is ahead. */
  readonly clockOffsetMs: number
}

const config = JSON.parse(process.argv[2] ?? '') as ReplicaConfig
const { jobs, points, casualties, clockOffsetMs, ...options } = config
const clock: Clock = { ...systemClock, now: () => systemClock.now() + clockOffsetMs }
const trigger = createTrigger({ ...options, jobs: jobs.map(jobOf), clock, logger: pino({ level: 'silent' }) })
writeEvents(trigger.events)
dieAt(trigger.events, points, casualties)
process.once('SIGTERM', () => void trigger.stop())
await trigger.start()
