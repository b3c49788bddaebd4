import type { EventSource } from '@cronce/core'
import { dropReason } from './drop-reason.ts'
import { JobLabels } from './job-labels.ts'
import { type MetricDefinitions, type MetricSink, makeMetrics } from './metric.ts'
import { countShared, makeProcessMetrics } from './process-metrics.ts'

/** What a trigger tells. */
export const TRIGGER_METRICS = {
  cronce_claim_attempts_total: {
    kind: 'counter',
    help: 'Slots that this replica tried to claim, those that another had first included',
    labels: ['job_name'],
  },
  cronce_claim_wins_total: { kind: 'counter', help: 'Slots that this replica claimed', labels: ['job_name'] },
  cronce_slots_enqueued_total: {
    kind: 'counter',
    help: 'Slots that are on the queue and recorded',
    labels: ['job_name'],
  },
  cronce_slots_held_up_total: {
    kind: 'counter',
    help: 'Slots that the overlap policy or a use-by dropped, or that wait for the run before them',
    labels: ['job_name', 'verdict'],
  },
  cronce_slots_cut_total: {
    kind: 'counter',
    help: 'Slots of an outage or a pause that will not run',
    labels: ['job_name', 'state', 'reason'],
  },
  cronce_slots_admitted_total: { kind: 'counter', help: 'Slots of an outage that run late', labels: ['job_name'] },
  cronce_adds_failed_total: {
    kind: 'counter',
    help: 'Claimed slots whose add to the queue surely failed (released), or may have (unsure)',
    labels: ['job_name', 'outcome'],
  },
  cronce_tick_duration_seconds: {
    kind: 'histogram',
    help: 'How long a pass over what is due took',
    labels: [],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  },
  cronce_ticks_failed_total: { kind: 'counter', help: 'Passes that could not reach the store', labels: [] },
  cronce_store_lost_writes_total: {
    kind: 'counter',
    help: 'Jobs for which the store was found to have lost writes that it had acknowledged',
    labels: ['job_name'],
  },
  cronce_trigger_running: { kind: 'gauge', help: 'Whether the trigger fires: 1 or 0', labels: [] },
  cronce_trigger_jobs: { kind: 'gauge', help: 'Jobs that the trigger fires', labels: [] },
  cronce_trigger_last_pass_timestamp_seconds: {
    kind: 'gauge',
    help: 'When the loop last passed and reached the store: its heartbeat',
    labels: [],
  },
  cronce_trigger_late_seconds: {
    kind: 'gauge',
    help: 'How much later than planned the loop last woke',
    labels: [],
  },
  cronce_trigger_clock_skew_seconds: {
    kind: 'gauge',
    help: 'The clock of Redis minus that of this process',
    labels: [],
  },
} as const satisfies MetricDefinitions

/** What is observed of a trigger: what `createTrigger` returns fits. */
export interface ObservedTrigger {
  readonly events: EventSource
  /** Instants in epoch ms, durations in ms. */
  health(): {
    readonly state: string
    readonly jobs: number
    readonly skewMs: number
    readonly lateMs: number
    readonly lastReachedAt: number | undefined
  }
}

/**
 * Counts what a trigger tells, and shows its health at each scrape. Cheap: an event is one or two additions, and Redis is not asked.
 * One trigger per registry.
 *
 * @returns what stops the counting
 * @example
 * observeTrigger(trigger, createMetrics({ service: 'billing-api', release: 'v7' }))
 */
export function observeTrigger(trigger: ObservedTrigger, sink: MetricSink): () => void {
  const { events } = trigger
  const jobs = new JobLabels()
  const shared = makeProcessMetrics(sink)
  const metrics = makeMetrics(sink, TRIGGER_METRICS, {
    cronce_trigger_running: () => (trigger.health().state === 'running' ? 1 : 0),
    cronce_trigger_jobs: () => trigger.health().jobs,
    cronce_trigger_last_pass_timestamp_seconds: () => inSeconds(trigger.health().lastReachedAt),
    cronce_trigger_late_seconds: () => inSeconds(trigger.health().lateMs),
    cronce_trigger_clock_skew_seconds: () => inSeconds(trigger.health().skewMs),
  })
  metrics.cronce_ticks_failed_total(0, {})
  const stops = [
    ...countShared(events, shared, jobs),
    events.on('job.registered', ({ job }) => metrics.cronce_store_lost_writes_total(0, { job_name: jobs.of(job) })),
    events.on('slot.claimed', ({ slot, latenessMs }) => {
      const labels = { job_name: jobs.ofSlot(slot) }
      metrics.cronce_claim_attempts_total(1, labels)
      metrics.cronce_claim_wins_total(1, labels)
      shared.cronce_lateness_seconds(latenessMs / 1_000, { ...labels, stage: 'claim' })
    }),
    events.on('slot.lost', ({ slot }) => metrics.cronce_claim_attempts_total(1, { job_name: jobs.ofSlot(slot) })),
    events.on('slot.enqueued', ({ slot }) => metrics.cronce_slots_enqueued_total(1, { job_name: jobs.ofSlot(slot) })),
    events.on('slot.held-up', ({ slot, verdict }) =>
      metrics.cronce_slots_held_up_total(1, { job_name: jobs.ofSlot(slot), verdict }),
    ),
    events.on('slots.cut', ({ job, state, reason, count }) =>
      metrics.cronce_slots_cut_total(count, { job_name: jobs.of(job), state, reason: dropReason(reason) }),
    ),
    events.on('slots.admitted', ({ job, count }) =>
      metrics.cronce_slots_admitted_total(count, { job_name: jobs.of(job) }),
    ),
    events.on('slot.released', ({ slot }) =>
      metrics.cronce_adds_failed_total(1, { job_name: jobs.ofSlot(slot), outcome: 'released' }),
    ),
    events.on('slot.unsure', ({ slot }) =>
      metrics.cronce_adds_failed_total(1, { job_name: jobs.ofSlot(slot), outcome: 'unsure' }),
    ),
    events.on('tick.finished', ({ tookMs }) => metrics.cronce_tick_duration_seconds(tookMs / 1_000, {})),
    events.on('tick.failed', () => metrics.cronce_ticks_failed_total(1, {})),
    events.on('store.lost-writes', ({ job }) => metrics.cronce_store_lost_writes_total(1, { job_name: jobs.of(job) })),
  ]
  return () => {
    for (const stop of stops) stop()
  }
}

function inSeconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1_000
}
