import { cron, defineJob, every } from '@cronce/core'
import { readSlotEvents } from '@cronce/store'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createFleet, type Fleet, NOON } from '../support/fleet.ts'
import { type RedisServer, startRedis } from '../support/index.ts'

let redis: RedisServer
let fleet: Fleet
let services = 0

beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())
afterEach(() => fleet.close())

function newFleet(startAt = NOON): Fleet {
  services += 1
  fleet = createFleet({ url: redis.url, service: `claims-${services}`, startAt })
  return fleet
}

const minutely = defineJob({
  name: 'eu/daily:日次',
  schedule: cron('* * * * *'),
  onCrash: 'complete',
  overlap: 'allow',
})

describe('run once', () => {
  it('makes one run of a slot that five replicas fire, and says so once each', async () => {
    newFleet()
    const lost: string[] = []
    for (const id of ['a', 'b', 'c', 'd', 'e']) {
      const trigger = await fleet.join(id, [minutely])
      trigger.events.on('slot.lost', ({ slot, by }) => lost.push(`${id} ${slot} ${by}`))
    }
    await fleet.advance(60_000)
    const slots = await fleet.slots(minutely.name)
    expect(slots.map(({ id, state, claims }) => [id, state, claims])).toEqual([['20260601T120100Z', 'enqueued', 1]])
    expect(lost).toHaveLength(4)
    const events = await readSlotEvents(fleet.store, minutely.name, slots[0]!.id)
    expect(events.map(({ event }) => event)).toEqual(['claimed', 'enqueued'])
  })

  it('fires nothing for an instant before the registration, and nothing twice after the clock steps back', async () => {
    newFleet(NOON + 30_000)
    await fleet.join('a', [minutely])
    await fleet.advance(90_000)
    expect(await fleet.slots(minutely.name)).toHaveLength(2)
    fleet.clock.set(NOON + 10_000)
    await fleet.tick()
    await fleet.sweep()
    fleet.clock.set(NOON + 150_000)
    await fleet.tick()
    const slots = await fleet.slots(minutely.name)
    expect(slots.map(({ id, claims }) => [id, claims])).toEqual([
      ['20260601T120100Z', 1],
      ['20260601T120200Z', 1],
    ])
  })

  it('changes nothing when the same definition is registered a hundred times', async () => {
    newFleet()
    for (let index = 0; index < 100; index++) await fleet.leave(await fleet.join('a', [minutely]))
    const job = await fleet.redis.hgetall(`cronce:{${fleet.store.service}:job:eu/daily%3A日次}:job`)
    expect(job['generation']).toBe('1')
    expect(Number(job['since'])).toBe(NOON)
  })
})

describe('nothing unrecorded', () => {
  it('accounts for every slot of a fourteen-day outage of a five-second job, with bounded work', async () => {
    newFleet()
    const job = defineJob({
      name: 'five',
      schedule: every('5s'),
      onCrash: 'skip',
      overlap: 'allow',
      catchUp: { mode: 'late', within: '1h', atMost: 10 },
    })
    await fleet.leave(await fleet.join('a', [job]))
    fleet.clock.advance(14 * 24 * 3600 * 1000)
    await fleet.join('b', [job])
    await fleet.join('c', [job])
    const commands = await commandCount()
    await fleet.tick()
    await fleet.tick()
    expect((await commandCount()) - commands).toBeLessThan(40)
    const slots = await fleet.slots('five')
    const gaps = (await fleet.redis.zrange(`cronce:{${fleet.store.service}:job:five}:gaps`, '0', '-1')).map(
      (line) => JSON.parse(line) as { count: number; state: string },
    )
    const inGaps = gaps.reduce((sum, { count }) => sum + count, 0)
    expect(inGaps + slots.length).toBe(241_920)
    expect(new Set(gaps.map(({ state }) => state))).toEqual(new Set(['missed', 'skipped']))
    expect(slots.at(-1)!.at).toBe(fleet.clock.now())
    expect(slots.at(-1)!.state).toBe('enqueued')
  })

  it('runs the newest of an outage only where the policy is latest, and none where it is skip', async () => {
    newFleet()
    const policy = (mode: 'latest' | 'skip') =>
      defineJob({
        name: mode,
        schedule: cron('* * * * *'),
        onCrash: 'complete',
        overlap: 'allow',
        catchUp: { mode, within: '6h', atMost: 10 },
      })
    const jobs = [policy('latest'), policy('skip')]
    await fleet.leave(await fleet.join('a', jobs))
    fleet.clock.advance(101 * 60_000)
    await fleet.join('b', jobs)
    await fleet.advance(30_000)
    const latest = await fleet.slots('latest')
    expect(latest.filter(({ state }) => state === 'enqueued').map(({ cause }) => cause)).toEqual([
      'catch-up',
      'on-time',
    ])
    const skip = await fleet.slots('skip')
    expect(skip.filter(({ state }) => state === 'enqueued').map(({ cause }) => cause)).toEqual(['on-time'])
  })
})

/** Scripts run so far: what a client sent, not what the scripts did. */
async function commandCount(): Promise<number> {
  const info = await fleet.redis.info('commandstats')
  return [...info.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)].reduce((sum, [, calls]) => sum + Number(calls), 0)
}
