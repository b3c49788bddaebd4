import { ALARM_KINDS, type EventSource } from '@cronce/core'
import type { JobLabels } from './job-labels.ts'
import { type MetricDefinitions, type MetricSink, makeMetrics } from './metric.ts'

/** What triggers and workers have in common. */
export const PROCESS_METRICS = {
  cronce_lateness_seconds: {
    kind: 'histogram',
    help: 'How long after its effective instant a slot was claimed, or its run started',
    labels: ['job_name', 'stage'],
    buckets: [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 21_600],
  },
  cronce_tasks_readded_total: {
    kind: 'counter',
    help: 'Tasks that a sweep added again because they had been quiet',
    labels: ['job_name'],
  },
  cronce_jobs_passed_over_total: {
    kind: 'counter',
    help: 'Definitions that could not be used, each time one was met',
    labels: ['job_name'],
  },
  cronce_alarms_total: {
    kind: 'counter',
    help: 'Alarms that this process raised or cleared',
    labels: ['kind', 'change'],
  },
  cronce_alarms_undelivered_total: {
    kind: 'counter',
    help: 'Alarms that reached nobody at one place, after the last attempt',
    labels: [],
  },
  cronce_watchdog_failures_total: { kind: 'counter', help: 'Looks of the watchdog that failed', labels: [] },
  cronce_heartbeats_failed_total: {
    kind: 'counter',
    help: 'Heartbeat URLs that did not answer, after the last attempt',
    labels: ['job_name'],
  },
} as const satisfies MetricDefinitions

export type ProcessMetrics = ReturnType<typeof makeProcessMetrics>

export function makeProcessMetrics(sink: MetricSink) {
  return makeMetrics(sink, PROCESS_METRICS)
}

/** Counts what triggers and workers both tell; answers what stops it. */
export function countShared(events: EventSource, metrics: ProcessMetrics, jobs: JobLabels): (() => void)[] {
  // Shown as 0 before the first: Prometheus sees no increase in a counter that begins at 1.
  metrics.cronce_alarms_undelivered_total(0, {})
  metrics.cronce_watchdog_failures_total(0, {})
  for (const kind of Object.keys(ALARM_KINDS)) {
    for (const change of ['raised', 'cleared']) metrics.cronce_alarms_total(0, { kind, change })
  }
  return [
    events.on('work.readded', ({ job, count }) =>
      metrics.cronce_tasks_readded_total(count, { job_name: jobs.of(job) }),
    ),
    events.on('job.passed-over', ({ job }) => metrics.cronce_jobs_passed_over_total(1, { job_name: jobs.of(job) })),
    events.on('alarm.raised', ({ kind }) => metrics.cronce_alarms_total(1, { kind, change: 'raised' })),
    events.on('alarm.cleared', ({ kind }) => metrics.cronce_alarms_total(1, { kind, change: 'cleared' })),
    events.on('alarm.undelivered', ({ alarms }) => metrics.cronce_alarms_undelivered_total(alarms.length, {})),
    events.on('watchdog.failed', () => metrics.cronce_watchdog_failures_total(1, {})),
    events.on('heartbeat.failed', ({ job }) => metrics.cronce_heartbeats_failed_total(1, { job_name: jobs.of(job) })),
  ]
}
