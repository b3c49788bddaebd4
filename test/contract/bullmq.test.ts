import { randomUUID } from 'node:crypto'
import { provesNothingAdded } from '@cronce/queue'
import { type Job, Queue, QueueEvents, Worker } from 'bullmq'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { describeNeeding, monitorEvents, type RedisServer, startRedis, waitUntil } from '../support/index.ts'

// What the protocol stands on, asked of BullMQ itself: a release that answers otherwise is noticed here, by name.
let server: RedisServer
let queue: Queue
const workers: Worker[] = []
beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())
beforeEach(() => {
  queue = new Queue(randomUUID(), { connection: { url: server.url }, prefix: '{contract}' })
})
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.close(true)))
  await queue.close()
})

function work(
  process: (job: Job) => Promise<unknown>,
  options: { lockDuration?: number; maxStalledCount?: number } = {},
): Worker {
  const worker = new Worker(queue.name, process, {
    ...{ connection: { url: server.url, maxRetriesPerRequest: null }, prefix: '{contract}' },
    ...{ stalledInterval: 100, lockDuration: 200, drainDelay: 1, ...options },
  })
  worker.on('error', () => undefined)
  workers.push(worker)
  return worker
}

const gone = (id: string) => waitUntil(async () => (await queue.getJob(id)) === undefined, { message: `${id} removed` })

describe('an id given to BullMQ', () => {
  it.each(['billing:daily', 'a:b:c:d', '20260308', '-5', '0'])(
    'is refused where it is %s, by an error that proves it (C35, C36, T2)',
    async (jobId) => {
      const error: unknown = await queue.add('x', {}, { jobId }).catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(Error)
      expect(provesNothingAdded(error)).toBe(true)
      expect(await queue.getWaitingCount()).toBe(0)
    },
  )

  it.each([
    'eu/daily@20260308T070000Z',
    '@scope/pkg@20260308T070000Z/chunk-1',
    '日次@20260308T070000Z+manual-1',
    'a b',
    '{x}',
    '0123',
  ])('is kept as it is where it is %s', async (jobId) => {
    expect((await queue.add('x', {}, { jobId })).id).toBe(jobId)
    expect((await queue.getJob(jobId))?.id).toBe(jobId)
  })

  it('that is known changes nothing, though the answer says otherwise (C37, A4)', async () => {
    await queue.add('x', { from: 'first' }, { jobId: 'a@1' })
    const answered = await queue.add('x', { from: 'second' }, { jobId: 'a@1' })
    expect(answered.data).toEqual({ from: 'second' })
    expect((await queue.getJob('a@1'))?.data).toEqual({ from: 'first' })
    expect(await queue.getWaitingCount()).toBe(1)
  })

  it('is forgotten when its job is removed: the same id runs again (C39, A4)', async () => {
    let runs = 0
    work(async () => void (runs += 1))
    for (const _ of [1, 2]) {
      await queue.add('x', {}, { jobId: 'a@1', removeOnComplete: true })
      await gone('a@1')
    }
    expect(runs).toBe(2)
  })

  it('of a failed job that is kept swallows the next in silence (C55): so none is kept', async () => {
    const worker = work(async () => await Promise.reject(new Error('told to')))
    const seen = monitorEvents<{ failed: Job }>(worker, ['failed'])
    await queue.add('x', {}, { jobId: 'a@1' })
    await seen.awaitNext('failed')
    await queue.add('x', {}, { jobId: 'a@1' })
    expect(await queue.getFailedCount()).toBe(1)
    expect(await queue.getWaitingCount()).toBe(0)
  })

  it('makes none of a bulk when one of it is refused: they are checked before the first is sent (C71)', async () => {
    const jobs = ['a@1', 'b:c', 'd@1'].map((jobId) => ({ name: 'x', data: {}, opts: { jobId } }))
    await expect(queue.addBulk(jobs)).rejects.toThrow(/Custom Id/i)
    expect(await queue.getWaitingCount()).toBe(0)
  })
})

describeNeeding(['redis-server'], 'a worker that BullMQ takes for dead (C49, C50)', () => {
  /** A worker that takes a job and is never heard of again, its lock's renewal included. */
  async function abandon(options: { maxStalledCount: number }): Promise<void> {
    let taken = () => undefined as void
    const inHand = new Promise<void>((resolve) => (taken = resolve))
    const worker = work(async () => {
      taken()
      await new Promise(() => undefined)
    }, options)
    await inHand
    await worker.close(true)
  }

  it('is failed at its second stall whatever its attempts say, unless stalls are unlimited', async () => {
    const events = new QueueEvents(queue.name, { connection: { url: server.url }, prefix: '{contract}' })
    await events.waitUntilReady()
    const failures = monitorEvents<{ failed: { jobId: string; failedReason: string } }>(events as never, ['failed'])
    try {
      await queue.add('x', {}, { jobId: 'limited@1', attempts: 5 })
      for (const _ of [1, 2]) await abandon({ maxStalledCount: 1 })
      let starts = 0
      work(async () => void (starts += 1), { maxStalledCount: 1 })
      const { failedReason } = await failures.awaitNext('failed')
      expect(failedReason).toMatch(/stalled more than allowable limit/)
      expect(starts).toBe(0)
    } finally {
      await events.close()
    }
  })

  it('has its job run again elsewhere where stalls are unlimited, however often', async () => {
    await queue.add('x', {}, { jobId: 'unlimited@1', removeOnComplete: true })
    for (const _ of [1, 2, 3]) await abandon({ maxStalledCount: 1_000_000 })
    let starts = 0
    work(async () => void (starts += 1), { maxStalledCount: 1_000_000 })
    await gone('unlimited@1')
    expect(starts).toBe(1)
  })
})
