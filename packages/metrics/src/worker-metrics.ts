import type { EventSource } from '@cronce/core'
import { JobLabels } from './job-labels.ts'
import { type MetricDefinitions, type MetricSink, makeMetrics } from './metric.ts'
import { countShared, makeProcessMetrics } from './process-metrics.ts'

/** What a worker tells. */
export const WORKER_METRICS = {
  cronce_runs_started_total: {
    kind: 'counter',
    help: 'Runs started for the first time',
    labels: ['job_name', 'cause'],
  },
  cronce_runs_ended_total: {
    kind: 'counter',
    help: 'Outcomes of runs; a redrive makes another one',
    labels: ['job_name', 'outcome'],
  },
  cronce_run_duration_seconds: {
    kind: 'histogram',
    help: 'From the start of a run to its first outcome; not of runs that ended while they were planned',
    labels: ['job_name'],
    buckets: [0.1, 0.5, 1, 5, 15, 30, 60, 300, 900, 1_800, 3_600, 10_800, 43_200],
  },
  cronce_entities_total: {
    kind: 'counter',
    help: 'Entities that ended, by what became of them: done, dead or abandoned',
    labels: ['job_name', 'outcome'],
  },
  cronce_entity_retries_total: {
    kind: 'counter',
    help: 'Attempts at an entity that failed and are followed by another',
    labels: ['job_name'],
  },
  cronce_chunk_duration_seconds: {
    kind: 'histogram',
    help: 'From the start of a hold of a chunk to its outcomes being written',
    labels: ['job_name'],
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 900],
  },
  cronce_chunk_crashes_total: {
    kind: 'counter',
    help: 'Chunks that were taken over because their last holder died',
    labels: ['job_name'],
  },
  cronce_chunks_handed_back_total: {
    kind: 'counter',
    help: 'Chunks that went back to the queue: for retries, at a shutdown, or for a limit',
    labels: ['job_name', 'reason'],
  },
  cronce_chunks_fenced_off_total: {
    kind: 'counter',
    help: 'Chunks that another worker took over while this one held them',
    labels: ['job_name'],
  },
  cronce_receipt_hits_total: {
    kind: 'counter',
    help: 'Effects that had a receipt and were skipped',
    labels: ['job_name'],
  },
  cronce_receipts_lost_total: {
    kind: 'counter',
    help: 'Effects that may have happened twice: they ended after their lease had gone to another',
    labels: ['job_name'],
  },
  cronce_plan_failures_total: {
    kind: 'counter',
    help: 'Attempts to read the entities of a run that failed',
    labels: ['job_name', 'final'],
  },
  cronce_done_failures_total: {
    kind: 'counter',
    help: 'Attempts at `done` that failed',
    labels: ['job_name', 'final'],
  },
  cronce_tasks_handed_back_total: {
    kind: 'counter',
    help: 'Tasks that this worker lacks the code for, or whose job is paused',
    labels: ['job_name'],
  },
  cronce_queue_troubles_total: {
    kind: 'counter',
    help: 'What a queue reports beside outcomes: lost locks, lost connections',
    labels: ['queue', 'kind'],
  },
  cronce_worker_running: { kind: 'gauge', help: 'Whether the worker takes tasks: 1 or 0', labels: [] },
  cronce_worker_tasks: { kind: 'gauge', help: 'Tasks in hand', labels: [] },
  cronce_worker_capacity: { kind: 'gauge', help: 'Tasks of a queue that the worker takes at once', labels: ['queue'] },
} as const satisfies MetricDefinitions

/** What a run that was started ends as. */
const OUTCOMES = ['succeeded', 'partial', 'failed', 'abandoned']

/** What is observed of a worker: what `createWorker` returns fits. */
export interface ObservedWorker {
  readonly events: EventSource
  health(): {
    readonly state: string
    readonly active: number
    readonly queues: Readonly<Record<string, number>>
  }
}

/**
 * Counts what a worker tells, and shows its health at each scrape. Cheap: entities that go well are counted by the chunk, and Redis is
 * not asked. One worker per registry.
 *
 * @returns what stops the counting
 * @example
 * observeWorker(worker, createMetrics({ service: 'billing-api', release: 'v7' }))
 */
export function observeWorker(worker: ObservedWorker, sink: MetricSink): () => void {
  const { events } = worker
  const jobs = new JobLabels()
  const shared = makeProcessMetrics(sink)
  const metrics = makeMetrics(sink, WORKER_METRICS, {
    cronce_worker_running: () => (worker.health().state === 'running' ? 1 : 0),
    cronce_worker_tasks: () => worker.health().active,
  })
  for (const [queue, count] of Object.entries(worker.health().queues)) metrics.cronce_worker_capacity(count, { queue })
  const stops = [
    ...countShared(events, shared, jobs),
    events.on('run.started', ({ slot, cause, latenessMs }) => {
      const labels = { job_name: jobs.ofSlot(slot) }
      metrics.cronce_runs_started_total(1, { ...labels, cause })
      // Shown as 0 before the first: Prometheus sees no increase in a counter that begins at 1.
      for (const outcome of OUTCOMES) metrics.cronce_runs_ended_total(0, { ...labels, outcome })
      metrics.cronce_receipts_lost_total(0, labels)
      shared.cronce_lateness_seconds(latenessMs / 1_000, { ...labels, stage: 'start' })
    }),
    events.on('run.ended', ({ slot, state, version, tookMs }) => {
      const labels = { job_name: jobs.ofSlot(slot) }
      metrics.cronce_runs_ended_total(1, { ...labels, outcome: state })
      // A redrive may come days after the start.
      if (version === 1 && tookMs !== undefined) metrics.cronce_run_duration_seconds(tookMs / 1_000, labels)
    }),
    events.on('chunk.settled', ({ slot, done, dead, abandoned, tookMs }) => {
      const labels = { job_name: jobs.ofSlot(slot) }
      metrics.cronce_chunk_duration_seconds(tookMs / 1_000, labels)
      for (const [outcome, count] of Object.entries({ done, dead, abandoned })) {
        if (count > 0) metrics.cronce_entities_total(count, { ...labels, outcome })
      }
    }),
    events.on('entity.retried', ({ slot }) => metrics.cronce_entity_retries_total(1, { job_name: jobs.ofSlot(slot) })),
    events.on('chunk.crashed', ({ slot }) => metrics.cronce_chunk_crashes_total(1, { job_name: jobs.ofSlot(slot) })),
    events.on('chunk.handed-back', ({ slot, reason }) =>
      metrics.cronce_chunks_handed_back_total(1, { job_name: jobs.ofSlot(slot), reason }),
    ),
    events.on('chunk.fenced-off', ({ slot }) =>
      metrics.cronce_chunks_fenced_off_total(1, { job_name: jobs.ofSlot(slot) }),
    ),
    events.on('receipt.hit', ({ slot }) => metrics.cronce_receipt_hits_total(1, { job_name: jobs.ofSlot(slot) })),
    events.on('receipt.lost', ({ slot }) => metrics.cronce_receipts_lost_total(1, { job_name: jobs.ofSlot(slot) })),
    events.on('plan.failed', ({ slot, final }) =>
      metrics.cronce_plan_failures_total(1, { job_name: jobs.ofSlot(slot), final: String(final) }),
    ),
    events.on('done.failed', ({ slot, final }) =>
      metrics.cronce_done_failures_total(1, { job_name: jobs.ofSlot(slot), final: String(final) }),
    ),
    events.on('task.handed-back', ({ slot }) =>
      metrics.cronce_tasks_handed_back_total(1, { job_name: jobs.ofSlot(slot) }),
    ),
    events.on('queue.troubled', ({ queue, kind }) => metrics.cronce_queue_troubles_total(1, { queue, kind })),
  ]
  return () => {
    for (const stop of stops) stop()
  }
}
