import { every } from '@cronce/core'
import {
  foldHistory,
  listGaps,
  pauseJob,
  readJob,
  readSlot,
  registerJob,
  removeStoredJob,
  resumeJob,
} from '@cronce/store'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createFleet, type Fleet, NOON } from '../support/fleet.ts'
import { type RedisServer, startRedis } from '../support/index.ts'
import {
  audited,
  claim,
  finish,
  holdWatermark,
  idAt,
  keyOf,
  MINUTE,
  minutely,
  runAt,
  SECOND,
  slotAt,
  statesOf,
  tickMinutes,
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
  fleet = createFleet({ url: redis.url, service: `watermark-${services}` })
})
afterEach(() => fleet.close())

const watermarkMinute = async () => ((await readJob(fleet.store, 'job'))!.watermarkAt - NOON) / MINUTE

describe('the watermark, held by one waiting slot', () => {
  it('passes no slot that nobody listed: an outage far above it is recorded to the last slot', async () => {
    const { replica, running, waiting } = await holdWatermark(fleet, minutely())
    await tickMinutes(fleet, 110)
    await fleet.leave(replica)
    fleet.clock.advance(90 * MINUTE)
    await fleet.join('third', [minutely()])
    await tickMinutes(fleet, 10)
    expect(Math.floor(await watermarkMinute())).toBe(1)
    await finish(fleet.store, running)
    await fleet.advance(20 * SECOND)
    await finish(fleet.store, waiting)
    await fleet.advance(MINUTE, 5 * SECOND)
    const [expected, ...rest] = await audited(fleet)
    expect(expected).toBe(214)
    expect(rest).toEqual([214, 0, 0, 0])
    expect(await watermarkMinute()).toBeGreaterThan(110)
  })

  it('keeps history from folding what stands above it, so that what has run does not run again', async () => {
    const { running, waiting } = await holdWatermark(fleet, minutely())
    await tickMinutes(fleet, 20)
    for (let minute = 3; minute <= 23; minute++) await finish(fleet.store, runAt(minute))
    const bounds = { detailMs: 0, detailSlots: 4, days: 400 }
    const now = fleet.clock.now()
    expect(await foldHistory(fleet.store, 'job', { now, bounds })).toMatchObject({ folded: 0, detail: 23 })
    await fleet.join('fresh', [minutely()])
    await fleet.advance(30 * SECOND)
    const succeeded = Array.from({ length: 21 }, (_, index) => `${index + 3} succeeded`)
    expect(await statesOf(fleet)).toEqual(['1 enqueued', '2 due', ...succeeded])
    await finish(fleet.store, running)
    await fleet.advance(20 * SECOND)
    await finish(fleet.store, waiting)
    await fleet.tick()
    const { folded } = await foldHistory(fleet.store, 'job', { now: fleet.clock.now(), bounds })
    expect(folded).toBeGreaterThanOrEqual(22)
    await fleet.advance(20 * SECOND)
    expect((await statesOf(fleet)).filter((line) => line.endsWith('due'))).toEqual([])
    expect(await audited(fleet)).toEqual([24, 24, 0, 0, 0])
  })

  it('keeps no edit from closing, 150 slots behind', async () => {
    const { running, waiting } = await holdWatermark(fleet, minutely())
    await tickMinutes(fleet, 150)
    await fleet.join('edited', [minutely({ schedule: every('10m') })])
    expect(await readJob(fleet.store, 'job')).toMatchObject({ generation: 2 })
    expect((await readSlot(fleet.store, 'job', waiting.id))?.state).toBe('due')
    await finish(fleet.store, running)
    await tickMinutes(fleet, 20)
    await finish(fleet.store, waiting)
    expect((await statesOf(fleet)).slice(-3)).toEqual(['153 enqueued', '160 enqueued', '170 enqueued'])
    const [expected, ...rest] = await audited(fleet)
    expect(rest).toEqual([expected, 0, 0, 0])
  })
})

describe('an edit in the middle of a pause', () => {
  it('brings no slot of the pause back', async () => {
    await fleet.join('a', [minutely()])
    await fleet.advance(MINUTE)
    await pauseJob(fleet.store, 'job', { by: 'ann', note: '', missed: 'skip' })
    await fleet.advance(4 * MINUTE + 10 * SECOND, 10 * SECOND)
    await fleet.join('edited', [minutely({ schedule: every('2m') })])
    expect(await readJob(fleet.store, 'job')).toMatchObject({ generation: 2, pause: { state: 'paused' } })
    await fleet.advance(2 * MINUTE, 10 * SECOND)
    await resumeJob(fleet.store, 'job', { by: 'ann', note: '' })
    await fleet.advance(2 * MINUTE, 10 * SECOND)
    expect(await statesOf(fleet)).toEqual(['1 enqueued', '8 enqueued'])
    const gaps = await listGaps(fleet.store, 'job', { afterAt: 0, limit: 10 })
    expect(gaps.map(({ count, state }) => [count, state])).toEqual([
      [4, 'skipped'],
      [1, 'skipped'],
    ])
    expect(await audited(fleet)).toEqual([7, 7, 0, 0, 0])
  })
})

describe('a store that went back behind what a replica remembers', () => {
  it('runs no due or claimed slot of a skip job that was recorded, however many there are', async () => {
    const { store, redis: client } = fleet
    const catchUp = { mode: 'late', within: '6h', atMost: 150 }
    const job = minutely({ onCrash: 'skip', catchUp })
    await fleet.leave(await fleet.join('first', [job]))
    fleet.clock.set(slotAt(130) + 30 * SECOND)
    await fleet.join('second', [job])
    await fleet.tick()
    const ids = Array.from({ length: 130 }, (_, index) => idAt(index + 1))
    const before = await client.hget(keyOf(store, 'job'), 'watermark')
    const states = await Promise.all(ids.map((id) => client.hget(keyOf(store, `slot:${id}`), 'state')))
    expect(new Set(states)).toEqual(new Set(['due', 'enqueued']))
    const open = await client.zrange(keyOf(store, 'open'), '0', '-1', 'WITHSCORES')
    // The replica sees all of them recorded; then the store is what it was.
    for (const id of ids) await client.hset(keyOf(store, `slot:${id}`), 'state', 'succeeded')
    await client.del(keyOf(store, 'open'))
    await client.hset(keyOf(store, 'job'), 'watermark', slotAt(130))
    await fleet.advance(MINUTE, 30 * SECOND)
    for (const [index, id] of ids.entries()) await client.hset(keyOf(store, `slot:${id}`), 'state', states[index]!)
    const pairs = open.flatMap((id, index) => (index % 2 === 0 ? [open[index + 1]!, id] : []))
    await client.zadd(keyOf(store, 'open'), ...pairs)
    await client.hset(keyOf(store, 'job'), 'watermark', before!)
    await fleet.advance(2 * MINUTE, 5 * SECOND)
    const after = await statesOf(fleet)
    expect(after.slice(1, 130)).toEqual(ids.slice(1).map((_, index) => `${index + 2} skipped`))
    expect(after.at(-1)).toBe('133 enqueued')
  })
})

describe('a slot that was claimed and not put on the queue', () => {
  it('is put there when its job was renamed meanwhile, and no later one is', async () => {
    await fleet.leave(await fleet.join('old', [minutely()]))
    fleet.clock.set(slotAt(1) + SECOND)
    await claim(fleet.store, [1])
    fleet.clock.advance(SECOND)
    await fleet.join('renamed', [minutely({ name: 'new', was: 'job' })])
    await fleet.advance(90 * SECOND, 5 * SECOND)
    expect(await statesOf(fleet)).toEqual(['1 enqueued'])
    expect(await statesOf(fleet, 'new')).toEqual(['2 enqueued'])
  })

  it('is put there when its job was removed meanwhile, and no later one is', async () => {
    await fleet.join('a', [minutely({ name: 'other', schedule: every('1h') })])
    await registerJob(fleet.store, minutely(), { by: 'ann', dynamic: true })
    fleet.clock.set(slotAt(1) + SECOND)
    await claim(fleet.store, [1])
    const { image, watermarkAt } = (await readJob(fleet.store, 'job'))!
    const removal = { by: 'ann', note: '', image, goneAt: slotAt(1), watermarkAt, known: 1 }
    expect(await removeStoredJob(fleet.store, 'job', removal)).toEqual({ status: 'gone', left: 0 })
    await fleet.advance(90 * SECOND, 5 * SECOND)
    expect(await statesOf(fleet)).toEqual(['1 enqueued'])
  })
})
