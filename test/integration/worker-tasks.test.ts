import { cron, defineJob } from '@cronce/core'
import { listUnviewed, redriveDeadLetters, registerJob } from '@cronce/store'
import { handle } from '@cronce/worker'
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

const nightly = defineJob({ name: 'nightly', schedule: cron('0 3 * * *'), onCrash: 'complete' })

describe('a worker', () => {
  it('that starts before the trigger recorded is not undone by the record', async () => {
    let runs = 0
    await stage.work([handle(nightly, { each: () => void (runs += 1) })])
    const run = await stage.start(nightly, { record: 'later' })
    const ended = await stage.ended(run)
    await run.record()
    expect(await stage.read(run)).toEqual(ended)
    expect(runs).toBe(1)
  })

  it('acknowledges a late add after the end without effect (C39)', async () => {
    let runs = 0
    const { told } = await stage.work([handle(nightly, { each: () => void (runs += 1) })])
    const run = await stage.start(nightly)
    await stage.ended(run)
    await waitUntil(async () => (await stage.enqueuer.depth('default')).active === 0, { message: 'an idle queue' })
    for (const _ of [1, 2]) {
      const before = told('task.acknowledged').length
      await run.addAgain()
      await waitUntil(() => told('task.acknowledged').length > before, { message: 'its acknowledgement' })
    }
    expect(told('task.acknowledged')).toMatchObject([
      { slot: run.slot, task: 'plan 0', reason: 'ended' },
      { slot: run.slot, task: 'plan 0', reason: 'ended' },
    ])
    expect(runs).toBe(1)
    expect((await stage.read(run)).starts).toBe(1)
  })

  it('hands back what it lacks the code for, and another takes it (W1)', async () => {
    const old = await stage.work([handle(nightly, { each: () => undefined })])
    const newer = { ...nightly, version: 2 }
    const run = await stage.start(newer)
    await waitUntil(() => old.told('task.handed-back').length > 0, { message: 'a hand-back' })
    expect(old.told('task.handed-back')[0]).toMatchObject({ slot: run.slot, delayMs: 1_000 })
    let runs = 0
    await stage.work([handle(newer, { each: () => void (runs += 1) })])
    // The old one may take it again a few times, each time for longer.
    await stage.ended(run, { timeoutMs: 45_000 })
    expect(runs).toBe(1)
  })

  it('fails a run whose handler no live worker has by its finish tolerance, and a redrive runs it when one does (W1)', async () => {
    const tolerance = { start: '500ms', finish: '1s' }
    const unknown = defineJob({
      name: 'unknown',
      schedule: cron('0 3 * * *'),
      onCrash: 'complete',
      timeout: '1s',
      tolerance,
    })
    await registerJob(stage.store, unknown, { by: 'test' })
    const old = await stage.work([handle(nightly, { each: () => undefined })])
    const run = await stage.start(unknown)
    const failed = await stage.ended(run, { timeoutMs: 20_000 })
    expect(failed).toMatchObject({ state: 'failed', reason: 'no handler: no live worker has it' })
    await waitUntil(() => old.told('run.ended').length > 0, { message: 'the end is told' })
    expect(old.told('run.ended')).toEqual([{ slot: run.slot, state: 'failed', version: 1 }])
    let runs = 0
    await stage.work([handle(unknown, { each: () => void (runs += 1) })])
    const redriven = await redriveDeadLetters(stage.store, run, { ids: [run.slot], by: 'test', abandonedToo: false })
    expect(redriven).toMatchObject({ status: 'redriven', count: 1 })
    await stage.enqueuer.add('default', [{ kind: 'plan', job: run.job, id: run.id, number: redriven.step, version: 1 }])
    expect(await stage.ended(run, { version: 2, timeoutMs: 45_000 })).toMatchObject({ state: 'succeeded' })
    expect(runs).toBe(1)
  })

  it('gets on with ten fan-outs at once on one queue', async () => {
    const done = new Map<string, number>()
    const jobs = Array.from({ length: 10 }, (_, index) =>
      defineJob({
        name: `fan-${index}`,
        schedule: cron('0 3 * * *'),
        onCrash: index % 2 === 0 ? 'complete' : 'skip',
        entity: { schema: z.object({ id: z.string() }), key: ({ id }) => id },
        chunk: { size: 20, concurrency: 5 },
      }),
    )
    const handlers = jobs.map((job) =>
      handle(job, {
        entities: ({ after = '', limit }) =>
          Array.from({ length: 200 }, (_, index) => ({ id: `${job.name}-${String(index).padStart(3, '0')}` }))
            .filter(({ id }) => id > after)
            .slice(0, limit),
        each: async ({ id }) => {
          await Promise.resolve()
          done.set(id, (done.get(id) ?? 0) + 1)
        },
      }),
    )
    const workers = [await stage.work(handlers), await stage.work(handlers)]
    const runs = await Promise.all(jobs.map((job) => stage.start(job)))
    const entries = await Promise.all(runs.map((run) => stage.ended(run, { timeoutMs: 30_000 })))
    for (const entry of entries)
      expect(entry).toMatchObject({ state: 'succeeded', crashes: 0, entities: { planned: 200, done: 200 } })
    expect(done.size).toBe(2_000)
    expect([...done.values()].filter((count) => count !== 1)).toEqual([])
    expect(workers.flatMap(({ told }) => told('chunk.fenced-off'))).toEqual([])
  })

  it('finds lost tasks by its sweep and adds them again (W3)', async () => {
    let runs = 0
    const run = await stage.start(nightly)
    // BullMQ loses everything it had.
    const keys = await stage.redis.keys('*:queue:default}*')
    await stage.redis.del(...keys)
    const { told } = await stage.work([handle(nightly, { each: () => void (runs += 1) })], { readdAfter: '300ms' })
    // The hint that the trigger writes before its claim.
    await stage.redis.zadd(`cronce:{${stage.service}}:open`, '0', nightly.name)
    expect(await stage.ended(run)).toMatchObject({ state: 'succeeded' })
    expect(runs).toBe(1)
    expect(told('work.readded').length).toBeGreaterThanOrEqual(1)
    await waitUntil(async () => (await stage.redis.zcard(`cronce:{${stage.service}}:open`)) === 0, {
      message: 'nothing open',
    })
    expect(await listUnviewed(stage.store, nightly.name, 10)).toEqual([])
  })
})
