import { cron, every, parseSlotId } from '@cronce/core'
import { listSlots } from '@cronce/store'
import { createTrigger } from '@cronce/trigger'
import { handle } from '@cronce/worker'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type HalfOpenProxy, startProxy } from '../support/half-open-proxy.ts'
import { type RedisServer, startRedis, waitUntil } from '../support/index.ts'
import { type Ground, openGround } from './ground.ts'
import { jobOf, type Row } from './programs/job-spec.ts'

let server: RedisServer
beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())

/** A service of its own, and a way to its Redis that can go wrong: tests that wait for silence wait side by side. */
async function onItsOwn(act: (own: { ground: Ground; proxy: HalfOpenProxy }) => Promise<void>): Promise<void> {
  const proxy = await startProxy(server.port)
  const ground = await openGround(server)
  try {
    await act({ ground, proxy })
  } finally {
    await ground.close()
    await proxy.close()
  }
}

const once = ({ after }: { after?: string | undefined }): Row[] => (after === undefined ? [{ id: 'only' }] : [])

describe.concurrent('connections that died without a word (C65, C67)', () => {
  it('of a worker: it comes back by itself, and runs what waits, once', () =>
    onItsOwn(async ({ ground, proxy }) => {
      const job = jobOf({ name: 'waits', schedule: cron('0 3 1 1 *'), onCrash: 'complete' })
      const ran: string[] = []
      await ground.work([handle(job, { entities: once, each: (_, { slot }) => void ran.push(slot.key) })], {
        redis: proxy.url,
      })
      const first = await ground.start(job)
      await ground.ended(first)
      proxy.forget()
      const runs = []
      for (let index = 1; index <= 10; index++)
        runs.push(await ground.start(job, { at: (parseSlotId(first.id)?.at ?? 0) + index * 1_000 }))
      for (const run of runs)
        expect(await ground.ended(run, { timeoutMs: 40_000 })).toMatchObject({ state: 'succeeded', starts: 1 })
      expect(ran).toHaveLength(11)
      expect(new Set(ran).size).toBe(11)
    }))

  it('of a worker in the middle of a chunk: another takes over, and the late one settles nothing', () =>
    onItsOwn(async ({ ground, proxy }) => {
      const job = jobOf({ name: 'held', schedule: cron('0 3 1 1 *'), onCrash: 'complete' })
      const gates: (() => void)[] = []
      const each = async () => await new Promise<void>((resolve) => void gates.push(resolve))
      const late = await ground.work([handle(job, { entities: once, each })], {
        redis: proxy.url,
        lock: '1s',
        stalledEvery: '500ms',
      })
      const run = await ground.start(job)
      await waitUntil(() => gates.length === 1, { message: 'the entity under way' })
      proxy.forget()
      await ground.work([handle(job, { entities: once, each: () => undefined })], { lock: '1s', stalledEvery: '500ms' })
      const ended = await ground.ended(run)
      expect(ended).toMatchObject({ state: 'succeeded', crashes: 1, entities: { done: 1 } })
      for (const open of gates) open()
      await waitUntil(() => late.told('chunk.fenced-off').length > 0, {
        message: 'the late one to notice',
        timeoutMs: 40_000,
      })
      expect(await ground.read(run)).toEqual(ended)
      expect(late.told('chunk.settled')).toEqual([])
      expect(late.told('run.ended')).toEqual([])
    }))

  it('of a replica: it fires again by itself, and every slot since is recorded once', () =>
    onItsOwn(async ({ ground, proxy }) => {
      const job = jobOf({ name: 'ticks', schedule: every('1s'), onCrash: 'complete', overlap: 'allow' })
      const trigger = createTrigger({
        ...{ service: ground.service, jobs: [job], redis: proxy.url, logger: pino({ level: 'silent' }) },
        ...{ claimLease: '1s', sweepEvery: '500ms' },
      })
      const enqueued: string[] = []
      trigger.events.on('slot.enqueued', ({ slot }) => void enqueued.push(slot))
      await ground.work([handle(job, { entities: once, each: () => undefined })])
      await trigger.start()
      try {
        await waitUntil(() => enqueued.length >= 2, { message: 'two slots' })
        proxy.forget()
        const before = enqueued.length
        await waitUntil(() => enqueued.length >= before + 12, { message: 'twelve more', timeoutMs: 40_000 })
      } finally {
        await trigger.stop()
      }
      expect(enqueued).toEqual([...new Set(enqueued)])
      const slots = (await listSlots(ground.store, 'ticks', { limit: 200 })).map(({ at }) => at).toReversed()
      expect(slots).toEqual(slots.map((_, index) => (slots[0] ?? 0) + index * 1_000))
    }))
})

describe.concurrent('connections that are cut or slow', () => {
  it('cut again and again in the middle of a fan-out: every entity is planned and done once (C71)', () =>
    onItsOwn(async ({ ground, proxy }) => {
      const job = jobOf({
        ...{ name: 'cut', schedule: cron('0 3 1 1 *'), onCrash: 'complete', chunk: { size: 20, concurrency: 5 } },
      })
      const all = Array.from({ length: 3_000 }, (_, index): Row => ({ id: `e${String(index).padStart(4, '0')}` }))
      const ran: string[] = []
      await ground.work(
        [
          handle(job, {
            entities: ({ after = '', limit }) => {
              const from = after === '' ? 0 : Number(after.slice(1)) + 1
              if (from > 0 && from % 600 === 0) proxy.cut()
              return all.slice(from, from + limit)
            },
            each: ({ id }) => void ran.push(id),
          }),
        ],
        { redis: proxy.url },
      )
      const run = await ground.start(job)
      const { entities } = await ground.ended(run, { timeoutMs: 30_000 })
      expect(entities).toMatchObject({ planned: 3_000, done: 3_000, dead: 0, duplicates: 0 })
      expect(ran).toHaveLength(3_000)
      expect(new Set(ran).size).toBe(3_000)
    }))

  it('100 ms slow each way: slots fire once, none before its time, and runs end (A1)', () =>
    onItsOwn(async ({ ground, proxy }) => {
      const job = jobOf({ name: 'far', schedule: every('1s'), onCrash: 'complete', overlap: 'allow' })
      const logger = pino({ level: 'silent' })
      const make = (id: string, redis: string) =>
        createTrigger({ service: ground.service, jobs: [job], redis, id, logger })
      const triggers = [make('near', server.url), make('far', proxy.url)]
      await Promise.all(triggers.map((trigger) => trigger.prepare()))
      proxy.delay(100)
      const ran: string[] = []
      await ground.work([handle(job, { entities: once, each: (_, { slot }) => void ran.push(slot.key) })], {
        redis: proxy.url,
      })
      await Promise.all(triggers.map((trigger) => trigger.start()))
      const succeeded = async () =>
        (await listSlots(ground.store, 'far', { limit: 99 })).filter(({ state }) => state === 'succeeded')
      await waitUntil(async () => (await succeeded()).length >= 3, { message: 'three runs', timeoutMs: 20_000 })
      await Promise.all(triggers.map((trigger) => trigger.stop()))
      for (const { at, claimedAt = 0, claims } of await succeeded()) {
        expect(claimedAt).toBeGreaterThanOrEqual(at)
        expect(claims).toBe(1)
      }
      expect(ran).toEqual([...new Set(ran)])
      expect(Math.abs(triggers[1]?.health().skewMs ?? 0)).toBeLessThan(150)
    }))
})
