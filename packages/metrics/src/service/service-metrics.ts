import type { MetricDefinitions } from '../metric.ts'

/** What Redis knows of a whole service, the same whoever asks. */
export const SERVICE_METRICS = {
  cronce_overdue_slots: {
    kind: 'gauge',
    help: 'Slots beyond their tolerance, by what is overdue: their start or their finish',
    labels: ['job_name', 'kind'],
  },
  cronce_unended_slots: {
    kind: 'gauge',
    help: 'Slots that are owed and have not ended although the next slot has come: no done marker for more than a period',
    labels: ['job_name'],
  },
  cronce_duration_interval_ratio: {
    kind: 'gauge',
    help: 'The share of the time between slots that nine of ten of the last 20 runs stay within; from 5 runs on',
    labels: ['job_name'],
  },
  cronce_last_success_timestamp_seconds: {
    kind: 'gauge',
    help: 'The nominal instant of the newest slot that succeeded, among the newest rows of the ledger',
    labels: ['job_name'],
  },
  cronce_recent_runs: {
    kind: 'gauge',
    help: 'The newest 40 ledger rows of each job, by state',
    labels: ['job_name', 'state'],
  },
  cronce_recent_drops: {
    kind: 'gauge',
    help: 'Slots in the newest 40 ledger rows of each job that did not run, by reason',
    labels: ['job_name', 'state', 'reason'],
  },
  cronce_paused: { kind: 'gauge', help: 'Whether a job is paused: 1 or 0', labels: ['job_name'] },
  cronce_dead_letters: { kind: 'gauge', help: 'Open dead letters', labels: ['job_name'] },
  cronce_dead_letter_oldest_age_seconds: {
    kind: 'gauge',
    help: 'Since when the oldest open dead letter is one; 0 where there is none',
    labels: ['job_name'],
  },
  cronce_queue_depth: {
    kind: 'gauge',
    help: 'Tasks on a queue: waiting, active or delayed',
    labels: ['queue', 'state'],
  },
  cronce_live_processes: {
    kind: 'gauge',
    help: 'Replicas and workers heard of lately, by release',
    labels: ['role', 'release'],
  },
  cronce_queue_workers: { kind: 'gauge', help: 'Live workers that serve a queue', labels: ['queue'] },
  cronce_clock_skew_seconds: {
    kind: 'gauge',
    help: 'The largest difference of a live replica clock to that of Redis',
    labels: [],
  },
} as const satisfies MetricDefinitions
