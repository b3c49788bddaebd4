import { cron, defineJob, every, formatSlotId, jobSettings } from '@cronce/core'
import type { Heard, JobFacts, RaisedAlarm, ReplicaPresence, UnendedSlot, WorkerPresence } from '@cronce/store'
import { describe, expect, it } from 'vitest'
import { judgeJob } from './judge-job.ts'
import { livenessOf } from './liveness.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const ONE = Date.UTC(2026, 5, 1, 13)

const hourly = jobSettings(
  defineJob({
    name: 'settlement',
    schedule: cron('0 * * * *'),
    onCrash: 'complete',
    queue: 'finance',
    tolerance: { start: '5m', finish: '30m' },
  }),
)

const REPLICA: Heard<ReplicaPresence> = {
  ...{ id: 'r1', release: '1', host: 'h', pid: 1, startedAt: 0, skewMs: 0, jobs: 1, loopLateMs: 0, tzdata: '' },
  images: { settlement: 'x' },
  heardAt: 0,
}
const WORKER: Heard<WorkerPresence> = {
  ...{ id: 'w1', release: '1', host: 'h', pid: 1, startedAt: 0, active: 0, heardAt: 0 },
  queues: { finance: 5 },
  handlers: { settlement: 1 },
}

interface Situation {
  readonly now: number
  readonly facts?: Partial<JobFacts>
  readonly replicas?: readonly Partial<Heard<ReplicaPresence>>[]
  readonly workers?: readonly Partial<Heard<WorkerPresence>>[]
  readonly settings?: typeof hourly
  readonly raised?: readonly RaisedAlarm[]
}

function judge({ now, facts = {}, replicas = [{}], workers = [{}], settings = hourly, raised = [] }: Situation) {
  return judgeJob({
    facts: {
      ...{ name: settings.name, now, sinceAt: 0, watermarkAt: ONE - HOUR_MS, switching: false, registeredAt: 0 },
      ...{ dynamic: false, goneAt: undefined, renamedTo: undefined, pause: undefined, settings },
      ...{ unended: [], knownAt: [], knownInFull: true, gaps: [], durations: [] },
      ...facts,
    },
    settings,
    raised,
    fleet: livenessOf({
      now,
      replicas: replicas.map((replica) => ({ ...REPLICA, heardAt: now, ...replica })),
      workers: workers.map((worker) => ({ ...WORKER, heardAt: now, ...worker })),
      watchers: new Map(),
    }),
  })
}

function slot(at: number, fields: Partial<UnendedSlot>): UnendedSlot {
  return {
    ...{
      id: formatSlotId(at),
      at,
      effectiveAt: at,
      state: 'enqueued',
      cause: 'on-time',
      claimedAt: at,
      claimedBy: 'r1',
    },
    ...{ enqueuedAt: at, startedAt: undefined, startedBy: undefined, version: 0, waits: false, planned: 9, done: 4 },
    ...fields,
  }
}

const told = (situation: Situation) =>
  judge(situation).conditions.map(({ kind, slot: key, reason }) => `${kind} ${key ?? ''}: ${reason}`)

const LATE = ONE + 6 * MINUTE_MS
const KEY = 'settlement@20260601T130000Z'

describe('a slot that has not started', () => {
  it('is not overdue until its tolerance is over, and is by then', () => {
    expect(judge({ now: ONE + 5 * MINUTE_MS })).toEqual({ conditions: [], nextAt: ONE + 5 * MINUTE_MS })
    expect(judge({ now: ONE + 5 * MINUTE_MS + 1 }).conditions).toMatchObject([
      { kind: 'overdue-start', slot: KEY, sinceAt: ONE + 5 * MINUTE_MS, key: 'overdue-start job settlement' },
    ])
  })

  const unserved = [{ queues: { other: 1 } }]
  it.each<[string, Situation]>([
    ['no trigger has claimed it', { now: LATE }],
    ['no trigger alive', { now: LATE, replicas: [] }],
    ['no trigger alive since 12:58Z', { now: LATE, replicas: [{ heardAt: ONE - 2 * MINUTE_MS }] }],
    ['no live replica carries the job', { now: LATE, replicas: [{ images: {} }], facts: { registeredAt: LATE } }],
    ['no worker serves queue "finance"', { now: LATE, facts: { unended: [slot(ONE, {})] }, workers: unserved }],
    [
      'on queue "finance" since 13:00Z; its workers have not come to it',
      { now: LATE, facts: { unended: [slot(ONE, {})] } },
    ],
    [
      'claimed by r1 at 13:00Z and not put on the queue',
      { now: LATE, facts: { unended: [slot(ONE, { state: 'claimed' })] } },
    ],
    [
      'it waits for 20260601T120000Z, which runs since 12:01Z',
      {
        now: LATE,
        facts: {
          unended: [
            slot(ONE - HOUR_MS, {
              state: 'running',
              startedAt: ONE - 59 * MINUTE_MS,
              cause: 'catch-up',
              effectiveAt: ONE,
            }),
            slot(ONE, { state: 'due', waits: true }),
          ],
        },
      },
    ],
  ])('says: %s', (reason, situation) => {
    expect(told(situation)).toContain(`overdue-start ${KEY}: ${reason}`)
  })

  it('is one alarm with the others of its job, named by the oldest', () => {
    expect(told({ now: ONE + 3 * HOUR_MS + LATE - ONE })).toEqual([
      `overdue-start ${KEY}: no trigger has claimed it; 3 more of its slots are overdue`,
    ])
  })

  it('is named, and the work is bounded, after an outage of a year of a job of every second', () => {
    const settings = jobSettings(defineJob({ name: 'settlement', schedule: every('1s'), onCrash: 'skip' }))
    const startedAt = performance.now()
    const { conditions } = judge({ now: ONE + 365 * 24 * HOUR_MS, settings })
    expect(performance.now() - startedAt).toBeLessThan(1_000)
    expect(conditions[0]).toMatchObject({ kind: 'overdue-start', slot: 'settlement@20260601T120001Z' })
  })

  it.each<[string, Partial<JobFacts>]>([
    ['that the ledger knows', { knownAt: [ONE] }],
    ['that is in a gap', { gaps: [{ fromAt: ONE - 1, toAt: ONE }] }],
    ['at the watermark', { watermarkAt: ONE }],
    ['before the edit', { sinceAt: ONE }],
    ['of a paused job', { pause: { state: 'paused', at: ONE - 1, untilAt: undefined } }],
    ['of a job on which the resume is not cut yet', { pause: { state: 'resuming', at: ONE - 1, untilAt: undefined } }],
    [
      'that a pause, which has ended by itself, held',
      { pause: { state: 'paused', at: ONE - 1, untilAt: ONE + MINUTE_MS } },
    ],
    [
      'of a paused job, on the queue',
      { unended: [slot(ONE, {})], pause: { state: 'paused', at: ONE, untilAt: undefined } },
    ],
    ['of a job that took another name', { goneAt: ONE, renamedTo: 'other' }],
    [
      'of a backfill that was just claimed',
      { watermarkAt: ONE, unended: [slot(ONE - 9 * HOUR_MS, { cause: 'backfill', claimedAt: LATE })] },
    ],
    [
      'that is redriven',
      { watermarkAt: ONE, unended: [slot(ONE - HOUR_MS, { state: 'running', version: 1, startedAt: ONE - HOUR_MS })] },
    ],
  ])('is no alarm: %s', (_, facts) => {
    expect(told({ now: LATE, facts })).toEqual([])
  })

  it('counts from its effective instant, which the spread moves', () => {
    const settings = { ...hourly, schedule: cron('0 * * * *', { spread: '30m' }) }
    const spread = judge({ now: ONE, settings }).nextAt ?? 0
    expect(spread).toBeGreaterThan(ONE + 5 * MINUTE_MS)
    expect(judge({ now: spread, settings }).conditions).toEqual([])
    expect(judge({ now: spread + 1, settings }).conditions).toHaveLength(1)
  })
})

describe('a run that has not ended', () => {
  const running = (fields: Partial<UnendedSlot> = {}) => ({
    watermarkAt: ONE,
    unended: [slot(ONE, { state: 'running', startedAt: ONE, startedBy: 'w1', ...fields })],
  })

  it('is overdue when its tolerance is over, also when the job is paused or gone', () => {
    const now = ONE + 31 * MINUTE_MS
    const reason = `overdue-finish ${KEY}: runs since 13:00Z, started by w1: 4 of 9 entities done`
    expect(told({ now: ONE + 30 * MINUTE_MS, facts: running() })).toEqual([])
    expect(told({ now, facts: running() })).toEqual([reason])
    expect(told({ now, facts: { ...running(), pause: { state: 'paused', at: ONE, untilAt: undefined } } })).toEqual([
      reason,
    ])
    expect(told({ now, facts: { ...running(), goneAt: ONE, renamedTo: 'other' } })).toEqual([reason])
  })

  it('has the time of a punctual one where an outage made it late', () => {
    const facts = running({ cause: 'catch-up', startedAt: ONE + 40 * MINUTE_MS })
    expect(told({ now: ONE + 64 * MINUTE_MS, facts })).toEqual([])
    expect(told({ now: ONE + 66 * MINUTE_MS, facts: { ...facts, knownAt: [ONE + HOUR_MS] } })).toHaveLength(1)
  })
})

describe('the runs of a job', () => {
  const runs = (...shares: number[]) => ({
    watermarkAt: ONE,
    durations: shares.map((share, index) => ({ at: ONE - index * HOUR_MS, durationMs: share * HOUR_MS })),
  })
  const near = {
    key: 'duration-near-interval job settlement',
    kind: 'duration-near-interval',
    sinceAt: 0,
    reason: '',
    raisedAt: 0,
  } as const

  it.each<[string, number, Pick<Situation, 'facts' | 'raised'>]>([
    ['nine of ten near the interval', 1, { facts: runs(0.9, 0.9, 0.9, 0.9, 0.9, 0.1), raised: [] }],
    ['one of ten near it', 0, { facts: runs(0.95, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1), raised: [] }],
    ['too few to tell', 0, { facts: runs(2, 2, 2, 2), raised: [] }],
    ['a little below, and never raised', 0, { facts: runs(0.75, 0.75, 0.75, 0.75, 0.75), raised: [] }],
    ['a little below, and raised before', 1, { facts: runs(0.75, 0.75, 0.75, 0.75, 0.75), raised: [near] }],
    ['well below, and raised before', 0, { facts: runs(0.6, 0.6, 0.6, 0.6, 0.6), raised: [near] }],
  ])('%s', (_, alarms, situation) => {
    expect(judge({ now: ONE + MINUTE_MS, ...situation }).conditions).toHaveLength(alarms)
  })

  it('may overlap where the author allowed it', () => {
    const settings = { ...hourly, overlap: 'allow' as const }
    expect(judge({ now: ONE + MINUTE_MS, facts: runs(3, 3, 3, 3, 3), settings }).conditions).toEqual([])
  })
})

describe('a job that nobody carries or handles', () => {
  const now = ONE + MINUTE_MS
  const facts = { watermarkAt: ONE }

  it.each<[string, Situation]>([
    ['not-registered', { now, facts, replicas: [{ images: {} }] }],
    ['not-registered', { now, facts: { ...facts, goneAt: ONE }, replicas: [{ images: {} }] }],
    ['queue-unserved', { now, facts, workers: [{ handlers: {} }] }],
    ['queue-unserved', { now, facts, workers: [{ handlers: {} }], settings: { ...hourly, version: 2 } }],
  ])('is %s', (kind, situation) => {
    expect(judge(situation).conditions.map((condition) => condition.kind)).toEqual([kind])
  })

  it.each<[string, Situation]>([
    ['dynamic jobs are carried by nobody', { now, facts: { ...facts, dynamic: true }, replicas: [{ images: {} }] }],
    [
      'a carrier that restarts is back soon',
      { now, facts, replicas: [{ images: {} }, { heardAt: now - 30_000, leftAt: now - 30_000 }] },
    ],
    ['a tombstone is final', { now: ONE + 2 * HOUR_MS, facts: { ...facts, goneAt: ONE }, replicas: [{ images: {} }] }],
    ['no replica lives, which is said of the service', { now, facts, replicas: [] }],
    ['nobody serves the queue, which is said of the queue', { now, facts, workers: [] }],
    ['its worker restarts', { now, facts, workers: [{ handlers: {} }, { leftAt: now - 30_000 }] }],
    ['a newer handler fits older payloads', { now, facts, workers: [{ handlers: { settlement: 3 } }] }],
    [
      'it is placed for a worker of somebody else',
      {
        now,
        facts,
        workers: [{ handlers: {} }],
        settings: { ...hourly, enqueue: { queue: 'q', name: 'n', prefix: 'bull' } },
      },
    ],
  ])('is no alarm where %s', (_, situation) => {
    expect(told(situation)).toEqual([])
  })
})
