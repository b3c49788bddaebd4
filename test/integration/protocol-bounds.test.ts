import { cron, defineJob, every } from '@cronce/core'
import { listQuietWork, readSlot } from '@cronce/store'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createFleet, type Fleet } from '../support/fleet.ts'
import { type RedisServer, startRedis } from '../support/index.ts'
import {
  claim,
  enqueue,
  idAt,
  keyOf,
  MINUTE,
  minutely,
  plan,
  runAt,
  SECOND,
  slotAt,
  statesOf,
} from './protocol-ground.ts'

let redis: RedisServer
let fleet: Fleet
let services = 0

beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())
beforeEach(() => {
  services += 1
  fleet = createFleet({ url: redis.url, service: `bounds-${services}` })
})
afterEach(() => fleet.close())

describe('runs of a foreign worker', () => {
  it('stand in no one’s way: every slot of an outage is put on its queue', async () => {
    const enqueueTo = { prefix: `foreign-${services}`, queue: 'theirs', name: 'report' }
    const catchUp = { mode: 'late', within: '30m', atMost: 10 } as const
    const job = defineJob({
      name: 'job',
      schedule: cron('* * * * *'),
      onCrash: 'complete',
      catchUp,
      enqueue: enqueueTo,
    })
    await fleet.leave(await fleet.join('first', [job]))
    fleet.clock.advance(4 * MINUTE + 30 * SECOND)
    await fleet.join('second', [job])
    await fleet.advance(10 * SECOND)
    expect(await statesOf(fleet)).toEqual(['1 enqueued', '2 enqueued', '3 enqueued', '4 enqueued'])
    expect(await fleet.redis.zcard(keyOf(fleet.store, 'live'))).toBe(0)
    const queued = await fleet.redis.keys(`${enqueueTo.prefix}:theirs:job@*`)
    expect(queued).toHaveLength(4)
  })
})

describe('one job whose row is corrupt', () => {
  const named = (name: string, schedule = every('1m')) => minutely({ name, schedule })
  const corrupt = async () => {
    const row = (job: string) => keyOf(fleet.store, 'job', job)
    await fleet.redis.del(row('wrong-type'))
    await fleet.redis.set(row('wrong-type'), 'not a hash')
    await fleet.redis.hset(row('unreadable'), 'settings', '{"version":')
    await fleet.redis.hset(row('nonsense'), 'watermark', 'many', 'since', 'none')
  }
  const bad = ['wrong-type', 'unreadable', 'nonsense']

  it('stops neither the other jobs of a tick, nor the sweep, nor a replica that joins', async () => {
    const replica = await fleet.join(
      'a',
      [...bad, 'good'].map((name) => named(name)),
    )
    const passedOver: string[] = []
    replica.events.on('job.passed-over', ({ job }) => passedOver.push(job))
    await corrupt()
    fleet.clock.set(slotAt(1))
    await replica.tick()
    expect(await statesOf(fleet, 'good')).toEqual(['1 enqueued'])
    // What a dead replica left of the good job is found by the sweep.
    fleet.clock.set(slotAt(2) + SECOND)
    await claim(fleet.store, [2], { job: 'good', token: 'dead' })
    fleet.clock.advance(15 * SECOND)
    await replica.sweep()
    expect(await statesOf(fleet, 'good')).toEqual(['1 enqueued', '2 enqueued'])
    expect(passedOver).toEqual(expect.arrayContaining(['wrong-type', 'nonsense']))
    expect(passedOver).not.toContain('good')
    // One that carries them, and one that has only heard of them.
    const joined = [
      await fleet.join(
        'b',
        [...bad, 'good'].map((name) => named(name)),
      ),
    ]
    await fleet.leave(replica)
    joined.push(await fleet.join('c', [named('good')]))
    expect(joined.map((trigger) => trigger.health().state)).toEqual(['ready', 'ready'])
    fleet.clock.set(slotAt(3))
    await fleet.tick()
    await fleet.sweep()
    fleet.clock.advance(MINUTE)
    await fleet.sweep()
    expect(await statesOf(fleet, 'good')).toEqual(['1 enqueued', '2 enqueued', '3 enqueued', '4 enqueued'])
  })

  it('is no outage when nothing else is due: the tick ends, and the job rests', async () => {
    const replica = await fleet.join('a', [named('wrong-type'), named('good', every('1h'))])
    const failed: unknown[] = []
    replica.events.on('tick.failed', (facts) => failed.push(facts))
    await fleet.redis.del(keyOf(fleet.store, 'job', 'wrong-type'))
    await fleet.redis.set(keyOf(fleet.store, 'job', 'wrong-type'), 'not a hash')
    fleet.clock.set(slotAt(1))
    expect(await replica.tick()).toMatchObject({ due: 1, claimed: 0 })
    fleet.clock.advance(SECOND)
    expect(await replica.tick()).toMatchObject({ due: 0 })
    expect(failed).toEqual([])
  })
})

describe('one sweep', () => {
  it('finds what a dead replica claimed, of a thousand jobs', async () => {
    const jobs = Array.from({ length: 1_000 }, (_, index) =>
      minutely({ name: `job-${index}`, schedule: every('1m'), catchUp: { mode: 'late', within: '1h', atMost: 1 } }),
    )
    const survivor = await fleet.join('survivor', jobs)
    fleet.clock.set(slotAt(1))
    await Promise.all(jobs.map(({ name }) => claim(fleet.store, [1], { job: name, token: 'dead' })))
    fleet.clock.advance(10 * SECOND + 1)
    await survivor.sweep()
    const states = await Promise.all(jobs.map(async ({ name }) => (await readSlot(fleet.store, name, idAt(1)))?.state))
    expect(states.filter((state) => state === 'enqueued')).toHaveLength(1_000)
  })
})

describe('a task that the queue lost', () => {
  it('is added again within two looks, wherever it stands among 150 long runs', async () => {
    await fleet.leave(await fleet.join('a', [minutely()]))
    const minutes = Array.from({ length: 152 }, (_, index) => index + 1)
    fleet.clock.set(slotAt(152))
    const grace = { graceMs: 1_000 * MINUTE }
    await enqueue(fleet.store, minutes.slice(0, 100), grace)
    await enqueue(fleet.store, minutes.slice(100), grace)
    for (const minute of minutes.slice(1, -1)) await plan(fleet.store, runAt(minute), { pages: [['a']] })
    const look = async () => {
      const { rows } = await listQuietWork(fleet.store, 'job', { quietMs: 30 * SECOND, most: 100 })
      return rows.flatMap((row) => (row.kind === 'slot' ? [row.id] : []))
    }
    for (let round = 0; round < 3; round++) {
      fleet.clock.advance(31 * SECOND)
      const [first, second] = [await look(), await look()]
      expect([...first, ...second].toSorted()).toEqual([idAt(1), idAt(152)].toSorted())
    }
  })
})
