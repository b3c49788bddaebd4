import { cron, defineJob, formatSlotId } from '@cronce/core'
import { claimManual, registerJob, startChunk, startPlan, writePage } from '@cronce/store'
import { handle } from '@cronce/worker'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type RedisServer, startRedis, takeTime } from '../support/index.ts'
import { openStage, type Stage } from '../support/worker-stage.ts'

let server: RedisServer
let stage: Stage
beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())
beforeEach(() => {
  stage = openStage(server)
})
afterEach(() => stage.close())

const base = {
  name: 'calls',
  schedule: cron('0 2 * * *'),
  onCrash: 'complete',
  entity: { schema: z.string(), key: (id: string) => id },
  chunk: { size: 10, concurrency: 4 },
  retry: { attempts: 2, backoff: { type: 'fixed', delay: '20ms', jitter: 0 } },
} as const
const keys = (count: number) => Array.from({ length: count }, (_, index) => `e${String(index).padStart(4, '0')}`)
const source = (count: number) => () => keys(count).values()
/** Places that are taken. */
const places = async () => {
  const taken = await Promise.all((await stage.redis.keys('*:limit')).map((key) => stage.redis.hgetall(key)))
  return taken.flatMap((each) => Object.entries(each))
}

/** Counts what runs at once, over all workers of this process. */
function crowd() {
  let running = 0
  return {
    most: 0,
    async in(workMs: number) {
      running += 1
      this.most = Math.max(this.most, running)
      await takeTime(workMs)
      running -= 1
    },
  }
}

describe('limit.concurrency', () => {
  it('is kept by two workers together, and nothing is left of it when the run has ended', async () => {
    const job = defineJob({ ...base, limit: { concurrency: 3 } })
    const inside = crowd()
    const handlers = [handle(job, { entities: source(120), each: () => inside.in(10) })]
    const [first, second] = [await stage.work(handlers), await stage.work(handlers)]
    const entry = await stage.ended(await stage.start(job), { timeoutMs: 30_000 })
    expect(entry).toMatchObject({ state: 'succeeded', crashes: 0, entities: { done: 120 } })
    expect(inside.most).toBe(3)
    const sent = [...first.told('chunk.handed-back'), ...second.told('chunk.handed-back')]
    expect(new Set(sent.map(({ reason }) => reason))).toEqual(new Set(['limit']))
    expect(await places()).toEqual([])
  })

  it('counts a call of eachChunk as one, and leaves other jobs alone', async () => {
    const job = defineJob({ ...base, limit: { concurrency: 2 } })
    const other = defineJob({ ...base, name: 'other' })
    const [inside, outside] = [crowd(), crowd()]
    await stage.work(
      [
        handle(job, { entities: source(200), eachChunk: () => inside.in(15) }),
        handle(other, { entities: source(200), each: () => outside.in(5) }),
      ],
      { queues: { default: 8 } },
    )
    const runs = [await stage.start(job), await stage.start(other)] as const
    for (const run of runs) {
      expect(await stage.ended(run, { timeoutMs: 30_000 })).toMatchObject({
        state: 'succeeded',
        entities: { done: 200 },
      })
    }
    expect(inside.most).toBe(2)
    expect(outside.most).toBeGreaterThan(4)
  })

  it('is what the definition in force says, not what a worker has in its image', async () => {
    const narrow = defineJob({ ...base, limit: { concurrency: 1 } })
    const inside = crowd()
    await stage.work([handle(defineJob(base), { entities: source(30), each: () => inside.in(5) })])
    expect(await stage.ended(await stage.start(narrow), { timeoutMs: 30_000 })).toMatchObject({ state: 'succeeded' })
    expect(inside.most).toBe(1)
  })

  describe('whose holder died', () => {
    const job = defineJob({ ...base, chunk: { size: 2, concurrency: 2 }, limit: { concurrency: 2 } })

    /** A run of two chunks; a worker took the first, with every place of the job, and is no more. */
    async function diedWithAllPlaces(leaseMs: number) {
      await registerJob(stage.store, job, { by: 'test' })
      const at = Date.UTC(2026, 7, 25, 2)
      const claim = { at, token: 't', leaseMs: 10_000, by: 'test', release: 'test', instant: formatSlotId(at) }
      const { id } = await claimManual(stage.store, job.name, claim)
      const run = { job: job.name, id }
      const dead = { worker: 'dead', release: 'test' }
      const { fence } = await startPlan(stage.store, run, { ...dead, at, hasDone: false, mostOpenChunks: 10 })
      for (const [index, page] of [
        ['a', 'b'],
        ['c', 'd'],
      ].entries()) {
        const members = page.map((key) => ({ key, payload: JSON.stringify(key) }))
        const [after, next] = [index === 0 ? '' : 'one', index === 0 ? 'one' : 'two']
        await writePage(stage.store, run, { fence, after, next, last: index === 1, members })
      }
      const start = await startChunk(stage.store, run, { number: 0, worker: 'dead', token: 'dead', width: 2, leaseMs })
      expect(start).toMatchObject({ status: 'run', width: 2 })
      return run
    }
    const add = (run: Awaited<ReturnType<typeof diedWithAllPlaces>>, number: number) =>
      stage.enqueuer.add('default', [{ ...run, kind: 'chunk', number, version: 1 }])

    it('is not used up by the dead: whoever takes the chunk over takes its places', async () => {
      const run = await diedWithAllPlaces(600_000)
      const seen: string[] = []
      await stage.work([handle(job, { entities: () => [], each: (id) => void seen.push(id) })])
      await add(run, 1)
      await add(run, 0)
      expect(await stage.ended(run)).toMatchObject({ state: 'succeeded', crashes: 1, entities: { done: 4 } })
      expect(seen).toEqual(['a', 'b', 'c', 'd'])
      expect(await places()).toEqual([])
    })

    it('is free again after a lease, although nobody takes the chunk over', async () => {
      const run = await diedWithAllPlaces(1_200)
      const seen: string[] = []
      await stage.work([handle(job, { entities: () => [], each: (id) => void seen.push(id) })], { readdAfter: '10m' })
      await add(run, 1)
      await expect.poll(() => seen, { timeout: 10_000 }).toEqual(['c', 'd'])
    })
  })
})

describe('limit.rate', () => {
  /** The most instants in any window of this length. */
  function mostWithin(instants: readonly number[], windowMs: number): number {
    return Math.max(...instants.map((from) => instants.filter((at) => at >= from && at < from + windowMs).length))
  }

  it('is kept by two workers together, evenly, and reached', async () => {
    const job = defineJob({ ...base, limit: { rate: { max: 100, per: '1s' } } })
    const instants: number[] = []
    const handlers = [handle(job, { entities: source(250), each: () => void instants.push(new Date().getTime()) })]
    await stage.work(handlers)
    await stage.work(handlers)
    const entry = await stage.ended(await stage.start(job), { timeoutMs: 30_000 })
    expect(entry).toMatchObject({ state: 'succeeded', crashes: 0, retries: 0, entities: { done: 250 } })
    // A tenth of a second's worth on top, and what a timer is late.
    expect(mostWithin(instants, 1_000)).toBeLessThanOrEqual(100 + 10 + 10)
    expect(mostWithin(instants, 200)).toBeLessThanOrEqual(20 + 10 + 10)
    const tookMs = (instants.at(-1) ?? 0) - (instants[0] ?? 0)
    expect(tookMs).toBeGreaterThan(2_200)
    expect(tookMs).toBeLessThan(6_000)
  })

  it('holds no place on the queue while it waits: another job goes on beside it', async () => {
    const slow = defineJob({ ...base, limit: { rate: { max: 1, per: '1s' } } })
    const other = defineJob({ ...base, name: 'other' })
    const instants: number[] = []
    await stage.work(
      [
        handle(slow, { entities: source(60), each: () => void instants.push(new Date().getTime()) }),
        handle(other, { entities: source(500), each: () => undefined }),
      ],
      { queues: { default: 2 } },
    )
    await stage.start(slow)
    await expect.poll(() => instants.length).toBeGreaterThan(0)
    const run = await stage.start(other)
    expect(await stage.ended(run, { timeoutMs: 5_000 })).toMatchObject({ state: 'succeeded', entities: { done: 500 } })
    expect(mostWithin(instants, 950)).toBe(1)
  })

  it('is kept by eachChunk over its calls, behind marks too', async () => {
    const job = defineJob({ ...base, onCrash: 'skip', limit: { rate: { max: 50, per: '1s' } } })
    const calls: { at: number; count: number }[] = []
    await stage.work([
      handle(job, {
        entities: source(60),
        eachChunk: (ids) => void calls.push({ at: new Date().getTime(), count: ids.length }),
      }),
    ])
    const entry = await stage.ended(await stage.start(job), { timeoutMs: 30_000 })
    expect(entry).toMatchObject({ state: 'succeeded', entities: { done: 60 } })
    expect(calls.map(({ count }) => count)).toEqual([10, 10, 10, 10, 10, 10])
    expect((calls.at(-1)?.at ?? 0) - (calls[0]?.at ?? 0)).toBeGreaterThan(800)
  })
})
