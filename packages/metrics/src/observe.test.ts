import { type CronceEvents, createEmitter, type EventName, formatSlotKey } from '@cronce/core'
import { Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { MOST_JOBS } from './job-labels.ts'
import { observeTrigger, TRIGGER_METRICS } from './trigger-metrics.ts'
import { observeWorker, WORKER_METRICS } from './worker-metrics.ts'

const slot = formatSlotKey({ job: 'invoice run', at: 0 })
const error = new Error('no')

type Told = { readonly [Name in EventName]?: readonly CronceEvents[Name][] }

function ground() {
  const registry = new Registry()
  const events = createEmitter()
  const tell = (told: Told) => {
    for (const [name, list] of Object.entries(told)) {
      for (const facts of list) events.emit(name as EventName, facts)
    }
  }
  const read = async () =>
    (await registry.metrics())
      .split('\n')
      .filter((line) => line.startsWith('cronce_') && !/_(bucket|running|jobs|capacity)\b/.test(line))
      .filter((line) => !line.startsWith('cronce_alarms_total') || line.includes('overdue-start'))
      .map((line) => line.replace('service_name="billing",', '').replace('{service_name="billing"}', ''))
  return { sink: { registry, service: 'billing' }, events, tell, read }
}

const TRIGGER = {
  state: 'running',
  ...{ jobs: 3, skewMs: -1_500, lateMs: 20, lastReachedAt: 1_800_000_000_000 as number | undefined },
}
const WORKER = { state: 'running', active: 2, queues: { default: 5 } }

describe('what is observed of a trigger', () => {
  it('is every event that says what became of a slot, and its health at the scrape', async () => {
    const { sink, events, tell, read } = ground()
    let health = { ...TRIGGER, lastReachedAt: undefined as number | undefined }
    const stop = observeTrigger({ events, health: () => health }, sink)
    const told: Told = {
      'job.registered': [{ job: 'invoice run', status: 'registered', generation: 1 }],
      'slot.claimed': [{ slot, latenessMs: 1_500 }],
      'slot.lost': [{ slot, by: 'r2' }],
      'slot.enqueued': [{ slot, queue: 'default', latenessMs: 1_500 }],
      'slot.held-up': [{ slot, verdict: 'waiting' }],
      'slots.cut': [
        { job: 'invoice run', state: 'skipped', reason: 'paused by ada: why not', count: 7, fromAt: 0, toAt: 1 },
      ],
      'slots.admitted': [{ job: 'invoice run', count: 2 }],
      'slot.released': [{ slot, error }],
      'slot.unsure': [{ slot, error }],
      'tick.finished': [{ due: 1, claimed: 1, lost: 0, tookMs: 30, lateMs: 0 }],
      'tick.failed': [{ error, dueSlots: [] }],
      'store.lost-writes': [{ job: 'invoice run', reason: 'new epoch' }],
      'work.readded': [{ job: 'invoice run', count: 3 }],
      'job.passed-over': [{ job: 'invoice run', reason: 'unreadable' }],
      'alarm.raised': [{ key: 'k', kind: 'overdue-start', sinceAt: 0, reason: '' }],
      'alarm.cleared': [{ key: 'k', kind: 'overdue-start', sinceAt: 0, reason: '' }],
      'alarm.undelivered': [{ alarms: ['a', 'b'], notifier: 'hook', attempts: 5, error }],
      'watchdog.failed': [{ error }],
      'heartbeat.failed': [{ job: 'invoice run', error }],
    }
    tell(told)
    expect((await read()).join('\n')).not.toContain('last_pass')
    health = TRIGGER
    const lines = await read()
    const job = 'job_name="invoice run"'
    expect(lines.toSorted()).toEqual(
      [
        `cronce_claim_attempts_total{${job}} 2`,
        `cronce_claim_wins_total{${job}} 1`,
        `cronce_lateness_seconds_sum{${job},stage="claim"} 1.5`,
        `cronce_lateness_seconds_count{${job},stage="claim"} 1`,
        `cronce_slots_enqueued_total{${job}} 1`,
        `cronce_slots_held_up_total{${job},verdict="waiting"} 1`,
        `cronce_slots_cut_total{${job},state="skipped",reason="paused"} 7`,
        `cronce_slots_admitted_total{${job}} 2`,
        `cronce_adds_failed_total{${job},outcome="released"} 1`,
        `cronce_adds_failed_total{${job},outcome="unsure"} 1`,
        'cronce_tick_duration_seconds_sum 0.03',
        'cronce_tick_duration_seconds_count 1',
        'cronce_ticks_failed_total 1',
        `cronce_store_lost_writes_total{${job}} 1`,
        `cronce_tasks_readded_total{${job}} 3`,
        `cronce_jobs_passed_over_total{${job}} 1`,
        'cronce_alarms_total{kind="overdue-start",change="raised"} 1',
        'cronce_alarms_total{kind="overdue-start",change="cleared"} 1',
        'cronce_alarms_undelivered_total 2',
        'cronce_watchdog_failures_total 1',
        `cronce_heartbeats_failed_total{${job}} 1`,
        'cronce_trigger_last_pass_timestamp_seconds 1800000000',
        'cronce_trigger_late_seconds 0.02',
        'cronce_trigger_clock_skew_seconds -1.5',
      ].toSorted(),
    )
    const metrics = new Set((await sink.registry.getMetricsAsJSON()).map(({ name }) => name))
    expect([...metrics]).toEqual(expect.arrayContaining(Object.keys(TRIGGER_METRICS)))
    stop()
    tell(told)
    expect(await read()).toEqual(lines)
  })
})

describe('what is observed of a worker', () => {
  it('is every event that says what became of a run, its chunks and its entities', async () => {
    const { sink, events, tell, read } = ground()
    observeWorker({ events, health: () => WORKER }, sink)
    tell({
      'run.started': [{ slot, cause: 'on-time', latenessMs: 250 }],
      'run.ended': [
        { slot, state: 'partial', version: 1, tookMs: 2_000 },
        { slot, state: 'succeeded', version: 2, tookMs: 90_000_000 },
        { slot, state: 'succeeded', version: 1 },
      ],
      'chunk.settled': [{ slot, chunk: 0, done: 98, dead: 2, abandoned: 0, tookMs: 500 }],
      'entity.retried': [{ slot, entity: 'e', attempt: 1, delayMs: 5, error }],
      'entity.died': [{ slot, entity: 'e', attempts: 1, reason: 'failed', error }],
      'chunk.crashed': [{ slot, chunk: 0, crashes: 1 }],
      'chunk.handed-back': [{ slot, chunk: 0, delayMs: 5, reason: 'limit' }],
      'chunk.fenced-off': [{ slot, chunk: 0 }],
      'receipt.hit': [{ slot, entity: 'e', effect: 'f' }],
      'receipt.lost': [{ slot, entity: 'e', effect: 'f' }],
      'plan.failed': [{ slot, error, attempt: 1, final: false }],
      'done.failed': [{ slot, error, attempt: 1, final: true }],
      'task.handed-back': [{ slot, task: 'plan 0', reason: 'no handler', delayMs: 5 }],
      'queue.troubled': [{ queue: 'default', kind: 'lock-lost' }],
    })
    const lines = await read()
    const job = 'job_name="invoice run"'
    expect(lines).toEqual(
      expect.arrayContaining([
        `cronce_runs_started_total{${job},cause="on-time"} 1`,
        `cronce_lateness_seconds_sum{${job},stage="start"} 0.25`,
        `cronce_runs_ended_total{${job},outcome="partial"} 1`,
        `cronce_runs_ended_total{${job},outcome="succeeded"} 2`,
        `cronce_run_duration_seconds_sum{${job}} 2`,
        `cronce_run_duration_seconds_count{${job}} 1`,
        `cronce_entities_total{${job},outcome="done"} 98`,
        `cronce_entities_total{${job},outcome="dead"} 2`,
        `cronce_chunk_duration_seconds_sum{${job}} 0.5`,
        `cronce_entity_retries_total{${job}} 1`,
        `cronce_chunk_crashes_total{${job}} 1`,
        `cronce_chunks_handed_back_total{${job},reason="limit"} 1`,
        `cronce_chunks_fenced_off_total{${job}} 1`,
        `cronce_receipt_hits_total{${job}} 1`,
        `cronce_receipts_lost_total{${job}} 1`,
        `cronce_plan_failures_total{${job},final="false"} 1`,
        `cronce_done_failures_total{${job},final="true"} 1`,
        `cronce_tasks_handed_back_total{${job}} 1`,
        'cronce_queue_troubles_total{queue="default",kind="lock-lost"} 1',
        'cronce_worker_tasks 2',
      ]),
    )
    // No outcome that no entity had; those of runs begin at 0.
    expect(lines.filter((line) => line.includes('abandoned'))).toEqual([
      `cronce_runs_ended_total{${job},outcome="abandoned"} 0`,
    ])
    const metrics = new Set((await sink.registry.getMetricsAsJSON()).map(({ name }) => name))
    expect([...metrics]).toEqual(expect.arrayContaining(Object.keys(WORKER_METRICS)))
  })

  it('stands beside what is observed of a trigger in one registry', () => {
    const { sink, events } = ground()
    observeTrigger({ events, health: () => TRIGGER }, sink)
    expect(() => observeWorker({ events, health: () => WORKER }, sink)).not.toThrow()
  })

  it('has a bounded number of labels, however many jobs are made at run time', async () => {
    const { sink, events, tell } = ground()
    observeWorker({ events, health: () => WORKER }, sink)
    for (let index = 0; index < MOST_JOBS + 500; index++) {
      tell({
        'run.ended': [{ slot: formatSlotKey({ job: `tenant-${index}`, at: 0 }), state: 'succeeded', version: 1 }],
      })
    }
    const { values } = (await sink.registry.getSingleMetric('cronce_runs_ended_total')?.get()) ?? { values: [] }
    expect(values).toHaveLength(MOST_JOBS + 1)
    expect(values.find(({ labels }) => labels['job_name'] === 'other')?.value).toBe(500)
  })
})
