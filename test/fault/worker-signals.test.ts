import { cron } from '@cronce/core'
import { handle } from '@cronce/worker'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type RedisServer, type SpawnedProcess, startRedis, waitUntil } from '../support/index.ts'
import { type Ground, openGround, repeated, told } from './ground.ts'
import { type JobSpec, jobOf, type Row } from './programs/job-spec.ts'

let server: RedisServer
let ground: Ground
beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())
beforeEach(async () => {
  ground = await openGround(server)
  await ground.setRows(['e0', 'e1', 'e2', 'e3'])
})
afterEach(() => ground.close())

const KEYS = ['e0', 'e1', 'e2', 'e3']
const job: JobSpec = {
  ...{ name: 'told', onCrash: 'complete', schedule: cron('0 3 1 1 *'), chunk: { size: 4, concurrency: 2 } },
  retry: { attempts: 2, backoff: { type: 'fixed', delay: 20, jitter: 0 } },
}
const GONE = { code: 0, signal: null }

/** Starts a run on this worker alone, and waits until two of its entities have started. */
async function startAt(worker: SpawnedProcess) {
  const run = await ground.start(jobOf(job))
  await waitUntil(async () => (await ground.effects('start')).length >= 2, { message: 'two entities under way' })
  expect(told(worker, 'chunk.started')).toHaveLength(1)
  return run
}

/** Another worker, in this process; what it ran with which attempt. */
async function takeOver(): Promise<string[]> {
  const ran: string[] = []
  await ground.work([
    handle(jobOf(job), {
      entities: (): Row[] => [],
      each: ({ id }, { attempt }) => void ran.push(`${id} attempt ${attempt}`),
    }),
  ])
  return ran
}

describe('SIGTERM to a worker process (C51, W9)', () => {
  it('lets short handlers finish, starts no other, and the process ends by itself; the rest runs elsewhere, once', async () => {
    const worker = await ground.worker({ jobs: [job], delayMs: 400, shutdownTimeout: 20_000 })
    const run = await startAt(worker)
    worker.signal('SIGTERM')
    expect(await worker.exited).toEqual(GONE)
    expect(told(worker, 'worker.stopped')).toMatchObject([{ forced: false }])
    const finished = (await ground.effects('effect')).map(({ key }) => key)
    expect(finished.toSorted()).toEqual(['e0', 'e1'])
    expect(await ground.effects('start')).toHaveLength(2)
    const ran = await takeOver()
    expect(await ground.ended(run)).toMatchObject({ state: 'succeeded', crashes: 0, retries: 0, entities: { done: 4 } })
    expect(ran.toSorted()).toEqual(['e2 attempt 1', 'e3 attempt 1'])
  })

  it('ends by its own deadline whatever the handlers do; they run again elsewhere, and no attempt is used up', async () => {
    const worker = await ground.worker({ jobs: [job], delayMs: 60_000, shutdownTimeout: 500, abortGrace: 200 })
    const run = await startAt(worker)
    const toldAt = performance.now()
    worker.signal('SIGTERM')
    // Its handlers' timers would hold it for a minute: whoever embeds a worker exits when `stop` is done.
    await worker.waitForLine(({ json }) => json?.['event'] === 'worker.stopped')
    expect(performance.now() - toldAt).toBeLessThan(6_000)
    expect(told(worker, 'worker.stopped')).toMatchObject([{ forced: true }])
    await worker.kill()
    const ran = await takeOver()
    expect(await ground.ended(run)).toMatchObject({ state: 'succeeded', crashes: 0, retries: 0, entities: { done: 4 } })
    expect(ran.toSorted()).toEqual(KEYS.map((key) => `${key} attempt 1`))
    expect(await ground.effects('effect')).toEqual([])
  })

  it('records what a handler throws while it drains: a retry elsewhere, with the next attempt', async () => {
    const acts = { e0: { kind: 'throw' }, e1: { kind: 'throw' } } as const
    const worker = await ground.worker({ jobs: [job], delayMs: 400, acts })
    const run = await startAt(worker)
    worker.signal('SIGTERM')
    expect(await worker.exited).toEqual(GONE)
    expect(told(worker, 'entity.retried').map(({ entity, attempt }) => [entity, attempt])).toEqual([
      ['e0', 1],
      ['e1', 1],
    ])
    const ran = await takeOver()
    expect(await ground.ended(run)).toMatchObject({
      state: 'succeeded',
      crashes: 0,
      retries: 2,
      entities: { done: 4, dead: 0 },
    })
    expect(ran.toSorted()).toEqual(['e0 attempt 2', 'e1 attempt 2', 'e2 attempt 1', 'e3 attempt 1'])
    expect(repeated(ran)).toEqual([])
  })

  it('a second time leaves at once: the run goes on elsewhere when the lock has ended', async () => {
    const worker = await ground.worker({ jobs: [job], delayMs: 60_000, shutdownTimeout: 30_000 })
    const run = await startAt(worker)
    worker.signal('SIGTERM')
    await worker.waitForLine(({ json }) => json?.['event'] === 'told to stop' && json['times'] === 1)
    const from = performance.now()
    worker.signal('SIGTERM')
    await worker.waitForLine(({ json }) => json?.['event'] === 'worker.stopped')
    expect(performance.now() - from).toBeLessThan(3_000)
    await worker.kill()
    const ran = await takeOver()
    expect(await ground.ended(run)).toMatchObject({ state: 'succeeded', entities: { done: 4 } })
    expect(ran.toSorted()).toEqual(KEYS.map((key) => `${key} attempt 1`))
  })
})

describe('SIGTERM to a replica process', () => {
  it('ends it by itself, and it fires nothing afterwards', async () => {
    const replica = await ground.replica({})
    replica.signal('SIGTERM')
    expect(await replica.exited).toEqual(GONE)
    expect(told(replica, 'trigger.stopped')).toHaveLength(1)
  })
})
