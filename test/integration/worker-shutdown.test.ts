import { cron, defineJob } from '@cronce/core'
import { listWorkers } from '@cronce/store'
import { createWorker, handle } from '@cronce/worker'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type RedisServer, startRedis, waitUntil } from '../support/index.ts'
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

const job = defineJob({
  name: 'billing',
  schedule: cron('0 2 * * *'),
  onCrash: 'complete',
  entity: { schema: z.object({ id: z.string() }), key: ({ id }) => id },
  chunk: { size: 10, concurrency: 2 },
  retry: { attempts: 2, backoff: { type: 'fixed', delay: '20ms', jitter: 0 } },
})

const entities = () => ({ entities: ['a', 'b', 'c', 'd'].map((id) => ({ id })), next: null })

/** A gate that handlers wait at. */
function gate(): { open: () => void; passed: Promise<void> } {
  let open = (): void => undefined
  const passed = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, passed }
}

describe('a stop (W9, C51)', () => {
  it('lets short handlers finish, starts no further entity, and another worker goes on with the rest', async () => {
    const { open, passed } = gate()
    const seen: string[] = []
    const first = await stage.work([
      handle(job, {
        entities,
        each: async ({ id }) => {
          seen.push(id)
          await passed
        },
      }),
    ])
    const run = await stage.start(job)
    await waitUntil(() => seen.length === 2, { message: 'two handlers' })
    const stopped = first.worker.stop()
    open()
    await stopped
    expect(seen).toEqual(['a', 'b'])
    expect(await stage.read(run)).toMatchObject({ state: 'running', retries: 0, entities: { done: 2 } })
    expect(first.told('chunk.handed-back')).toMatchObject([{ delayMs: 0, reason: 'shutdown' }])
    expect(first.told('worker.stopped')).toEqual([{ worker: first.worker.id, forced: false }])
    await stage.work([handle(job, { entities, each: ({ id }) => void seen.push(id) })])
    expect(await stage.ended(run)).toMatchObject({ state: 'succeeded', crashes: 0, retries: 0, entities: { done: 4 } })
    expect(seen).toEqual(['a', 'b', 'c', 'd'])
  })

  it('aborts long handlers at its deadline and hands them back without using up an attempt', async () => {
    const attempts: [string, number][] = []
    const reasons: unknown[] = []
    const first = await stage.work(
      [
        handle(job, {
          entities,
          each: async ({ id }, { signal, attempt }) => {
            attempts.push([id, attempt])
            await new Promise<void>((_, reject) =>
              signal.addEventListener('abort', () => {
                reasons.push(signal.reason)
                reject(new Error('aborted'))
              }),
            )
          },
        }),
      ],
      { shutdownTimeout: '200ms' },
    )
    const run = await stage.start(job)
    await waitUntil(() => attempts.length === 2, { message: 'two handlers' })
    const from = performance.now()
    await first.worker.stop()
    expect(performance.now() - from).toBeLessThan(1_500)
    expect(reasons).toMatchObject([{ code: 'CRONCE_SHUTDOWN' }, { code: 'CRONCE_SHUTDOWN' }])
    expect(first.told('worker.stopped')).toMatchObject([{ forced: true }])
    expect(await stage.read(run)).toMatchObject({ state: 'running', retries: 0, entities: { done: 0, dead: 0 } })
    await stage.work([handle(job, { entities, each: ({ id }, { attempt }) => void attempts.push([id, attempt]) })])
    expect(await stage.ended(run)).toMatchObject({ state: 'succeeded', crashes: 0, entities: { done: 4 } })
    expect(attempts.slice(2)).toEqual([
      ['a', 1],
      ['b', 1],
      ['c', 1],
      ['d', 1],
    ])
  })

  it('leaves a handler that ignores its signal, and a job that may not be repeated counts as abandoned', async () => {
    const once = { ...job, onCrash: 'skip' as const }
    const seen: string[] = []
    const first = await stage.work(
      [
        handle(once, {
          entities,
          each: ({ id }) => {
            seen.push(id)
            return new Promise<void>(() => undefined)
          },
        }),
      ],
      { shutdownTimeout: '100ms', abortGrace: '100ms' },
    )
    const run = await stage.start(once)
    await waitUntil(() => seen.length === 2, { message: 'two handlers' })
    await first.worker.stop()
    expect(await stage.read(run)).toMatchObject({ state: 'running', entities: { done: 0, abandoned: 2 } })
    await stage.work([handle(once, { entities, each: ({ id }) => void seen.push(id) })])
    expect(await stage.ended(run)).toMatchObject({ state: 'partial', entities: { done: 2, dead: 0, abandoned: 2 } })
    expect(seen).toEqual(['a', 'b', 'c', 'd'])
  })

  it('records what a handler throws while it drains', async () => {
    const { open, passed } = gate()
    let starts = 0
    const handlers = [
      handle(
        { ...job, retry: { ...job.retry, attempts: 1 } },
        {
          entities,
          each: async ({ id }) => {
            starts += 1
            if (starts <= 2) await passed
            if (id === 'a') throw new Error('while draining')
          },
        },
      ),
    ]
    const first = await stage.work(handlers)
    const run = await stage.start(job)
    await waitUntil(() => starts === 2, { message: 'two handlers' })
    const stopped = first.worker.stop()
    open()
    await stopped
    expect(await stage.read(run)).toMatchObject({ state: 'running', entities: { done: 1, dead: 1 } })
    await stage.work(handlers)
    expect(await stage.ended(run)).toMatchObject({ state: 'partial', entities: { done: 3, dead: 1 } })
  })

  it('may be forced while another waits, and is idempotent', async () => {
    const seen: string[] = []
    const first = await stage.work([
      handle(job, {
        entities,
        each: ({ id }) => {
          seen.push(id)
          return new Promise<void>(() => undefined)
        },
      }),
    ])
    const run = await stage.start(job)
    await waitUntil(() => seen.length === 2, { message: 'two handlers' })
    const from = performance.now()
    const patient = first.worker.stop()
    await first.worker.stop({ force: true })
    expect(performance.now() - from).toBeLessThan(3_000)
    await first.worker.stop({ force: true })
    expect(first.told('worker.stopped')).toMatchObject([{ forced: true }])
    // The lock ends, another worker takes over, and what may have been under way runs alone.
    await stage.work([handle(job, { entities, each: ({ id }) => void seen.push(id) })])
    expect(await stage.ended(run)).toMatchObject({ state: 'succeeded', entities: { done: 4 } })
    await patient
  })

  it('takes no task that came after it, and says goodbye', async () => {
    const seen: string[] = []
    const first = await stage.work([handle(job, { entities, each: ({ id }) => void seen.push(id) })])
    await waitUntil(async () => (await listWorkers(stage.store, 0)).length === 1, { message: 'its heartbeat' })
    expect(await listWorkers(stage.store, 0)).toMatchObject([
      { id: first.worker.id, queues: { default: 4 }, handlers: { billing: 1 } },
    ])
    await first.worker.stop()
    const run = await stage.start(job)
    expect(await stage.enqueuer.depth('default')).toEqual({ waiting: 1, active: 0, delayed: 0 })
    expect((await stage.read(run)).state).toBe('enqueued')
    expect(seen).toEqual([])
    expect(await listWorkers(stage.store, 0)).toMatchObject([{ leftAt: expect.any(Number) }])
    await expect(first.worker.start()).rejects.toMatchObject({ code: 'CRONCE_WORKER_STOPPED' })
  })
})

describe('a start', () => {
  it('without Redis says so, and may be tried again', async () => {
    const worker = createWorker({
      ...{ service: 's', handlers: [], queues: { default: 1 }, redis: 'redis://127.0.0.1:1' },
    })
    await expect(worker.start()).rejects.toMatchObject({ code: 'CRONCE_REDIS_UNREACHABLE' })
    expect(worker.health().state).toBe('created')
    await worker.stop()
  })
})
