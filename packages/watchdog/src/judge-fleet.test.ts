import type { Heard, ReplicaPresence, WorkerPresence } from '@cronce/store'
import { describe, expect, it } from 'vitest'
import { judgeFleet, type PlacedJob } from './judge-fleet.ts'
import { livenessOf } from './liveness.ts'

const NOW = Date.UTC(2026, 5, 1, 13)
const MINUTE_MS = 60_000

const replica = (id: string, fields: Partial<Heard<ReplicaPresence>> = {}): Heard<ReplicaPresence> => ({
  ...{ id, release: '1', host: 'h', pid: 1, startedAt: 0, skewMs: 0, jobs: 1, loopLateMs: 0, tzdata: '' },
  ...{ images: { a: 'x', b: 'x' }, heardAt: NOW, ...fields },
})
const worker = (fields: Partial<Heard<WorkerPresence>> = {}): Heard<WorkerPresence> => ({
  ...{ id: 'w', release: '1', host: 'h', pid: 1, startedAt: 0, active: 0, heardAt: NOW },
  ...{ queues: { finance: 1 }, handlers: { a: 1, b: 1 }, ...fields },
})
const place = (job: string, fields: Partial<PlacedJob> = {}): PlacedJob => ({
  ...{ job, queue: 'finance', version: 1, registeredAt: 0, carried: 'static', state: 'fire' },
  ...fields,
})

interface Situation {
  readonly places?: readonly PlacedJob[]
  readonly replicas?: readonly Heard<ReplicaPresence>[]
  readonly workers?: readonly Heard<WorkerPresence>[]
  readonly watchers?: Readonly<Record<string, number>>
}

function judge({
  places = [place('a'), place('b')],
  replicas = [replica('r')],
  workers = [worker()],
  watchers = {},
}: Situation) {
  return judgeFleet(places, livenessOf({ now: NOW, replicas, workers, watchers: new Map(Object.entries(watchers)) }))
}

const told = (situation: Situation) => judge(situation).conditions.map(({ key, reason }) => `${key}: ${reason}`)

describe('a service', () => {
  it('is well while somebody triggers and somebody works', () => {
    expect(judge({})).toEqual({ conditions: [], suspects: [] })
  })

  it.each<[string, Situation]>([
    [
      'loop-stopped service: no trigger alive since 12:58Z',
      { replicas: [replica('r', { heardAt: NOW - 2 * MINUTE_MS })] },
    ],
    [
      'loop-stopped service: no trigger alive since 12:58Z',
      { replicas: [replica('r', { leftAt: NOW - 2 * MINUTE_MS })] },
    ],
    ['loop-stopped service: no trigger alive', { replicas: [] }],
    [
      'loop-stopped replica s: the process of replica s lives, and its trigger loop has not ticked since 12:58Z',
      { replicas: [replica('r'), replica('s', { heardAt: NOW - 2 * MINUTE_MS })], watchers: { s: NOW - MINUTE_MS } },
    ],
    [
      'queue-unserved queue finance: no worker serves queue "finance" since 12:58Z; it has the jobs a, b',
      { workers: [worker({ heardAt: NOW - 2 * MINUTE_MS })] },
    ],
    [
      'queue-unserved queue q: no worker serves queue "q"; it has the jobs a, b, c and 1 more',
      { places: ['d', 'c', 'b', 'a'].map((job) => place(job, { queue: 'q', carried: 'dynamic' })) },
    ],
  ])('says %s', (text, situation) => {
    expect(told(situation)).toEqual([text])
  })

  it.each<[string, Situation]>([
    ['has no jobs', { places: [], replicas: [], workers: [] }],
    ['has jobs only that are gone', { places: [place('a', { state: 'gone' })], replicas: [], workers: [] }],
    ['stops its old replicas before it starts the new ones', { replicas: [replica('r', { leftAt: NOW - 20_000 })] }],
    [
      'has a replica that speaks seldom',
      { replicas: [replica('r', { heardAt: NOW - 2 * MINUTE_MS, heartbeatMs: MINUTE_MS })] },
    ],
    [
      'lost a replica that died, while another fires',
      { replicas: [replica('r'), replica('s', { heardAt: NOW - 9 * MINUTE_MS })] },
    ],
    ['restarts its workers', { workers: [worker({ leftAt: NOW - 30_000 })] }],
    [
      'has a worker whose clock is behind, and whose watchdog is heard',
      { workers: [worker({ heardAt: NOW - 9 * MINUTE_MS })], watchers: { w: NOW } },
    ],
    [
      'paused all jobs of a queue',
      { places: [place('a', { state: 'paused' }), place('b', { state: 'foreign' })], workers: [] },
    ],
  ])('gives no alarm when it %s', (_, situation) => {
    expect(told(situation)).toEqual([])
  })

  it('sends the jobs that nobody carries or handles to be judged, and no others', () => {
    expect(judge({ replicas: [replica('r', { images: { a: 'x' } })] }).suspects).toEqual(['b'])
    expect(judge({ workers: [worker({ handlers: { a: 1 } })] }).suspects).toEqual(['b'])
    expect(judge({ places: [place('z', { carried: 'dynamic', state: 'paused' })] }).suspects).toEqual([])
    expect(judge({ replicas: [], workers: [] }).suspects).toEqual([])
  })
})
