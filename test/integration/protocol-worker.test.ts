import { cron, defineJob, formatDeadLetterId } from '@cronce/core'
import { redrive } from '@cronce/operations'
import { hintOpenWork, queuePrefix, readDeadLetter, registerJob, startPlan } from '@cronce/store'
import { handle } from '@cronce/worker'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type RedisServer, startRedis, takeTime, waitUntil } from '../support/index.ts'
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
  retry: { attempts: 1 },
  timeout: '5s',
})

describe('an entity that dies of its time while its effect is under way', () => {
  it('has that effect once: the redrive finds the receipt that was written later', async () => {
    const quick = { ...job, timeoutMs: 200 }
    const answers: string[] = []
    let effects = 0
    await stage.work([
      handle(quick, {
        entities: () => new Set([{ id: 'a' }]),
        each: async (_, ctx) => {
          const answer = await ctx.once('charge', async () => {
            await takeTime(600)
            effects += 1
          })
          answers.push(answer)
        },
      }),
    ])
    const run = await stage.start(quick)
    expect(await stage.ended(run)).toMatchObject({ state: 'failed', entities: { dead: 1 } })
    const letter = formatDeadLetterId(run.slot, 'a')
    expect(await readDeadLetter(stage.store, job.name, letter)).toMatchObject({ reason: 'timeout', state: 'open' })
    await waitUntil(() => answers.length === 1, { message: 'the late receipt' })
    const access = { store: stage.store, enqueuer: stage.enqueuer, random: () => 0.5 }
    await redrive(access, { selection: { ids: [letter] }, operator: { name: 'ann' }, mode: 'redrive' })
    expect(await stage.ended(run, { version: 2 })).toMatchObject({ state: 'succeeded', entities: { done: 1, dead: 0 } })
    expect([answers, effects]).toEqual([['done', 'skipped'], 1])
  })
})

describe('an edit of a job’s queue', () => {
  it('in the middle of a run puts nothing of it on the new queue, and starts no chunk twice', async () => {
    const [before, after] = [
      { ...job, queue: 'old' },
      { ...job, queue: 'new' },
    ]
    const seen: string[] = []
    let isReleased = false
    const options = { queues: { old: 2, new: 2 }, readdAfter: '200ms', sweepEvery: '100ms' } as const
    const { told } = await stage.work(
      [
        handle(before, {
          entities: () => new Set([{ id: 'a' }, { id: 'b' }]),
          each: async ({ id }) => {
            seen.push(id)
            await waitUntil(() => isReleased, { message: 'the end of the edit' })
          },
        }),
      ],
      options,
    )
    const run = await stage.start(before)
    await waitUntil(() => seen.length === 2, { message: 'both entities under way' })
    await registerJob(stage.store, after, { by: 'test' })
    await hintOpenWork(stage.store, [job.name], 0)
    await waitUntil(() => told('work.readded').length >= 2, { message: 'two looks at the run' })
    const ours = (await stage.redis.keys(`${queuePrefix(stage.service, 'new')}*`)).filter((key) => key.includes('@'))
    expect(ours).toEqual([])
    isReleased = true
    expect(await stage.ended(run)).toMatchObject({ state: 'succeeded', crashes: 0, entities: { done: 2 } })
    expect(seen.toSorted()).toEqual(['a', 'b'])
    expect(told('chunk.started')).toHaveLength(1)
  })
})

describe('a source that takes its workers down', () => {
  it('is read no more after twenty starts without progress: the run ends as failed, with a dead letter', async () => {
    const run = await stage.start(job)
    const start = { worker: 'dead', release: 'test', at: 0, hasDone: false, mostOpenChunks: 10 }
    for (let starts = 0; starts < 20; starts++)
      expect(await startPlan(stage.store, run, start)).toMatchObject({ status: 'run' })
    let reads = 0
    const { told } = await stage.work([
      handle(job, {
        entities: () => {
          reads += 1
          return new Set<{ id: string }>()
        },
        each: () => undefined,
      }),
    ])
    expect(await stage.ended(run)).toMatchObject({ state: 'failed', starts: 21 })
    expect(reads).toBe(0)
    expect(told('plan.failed')).toMatchObject([{ final: true, error: { name: 'CronceError' } }])
    const letter = await readDeadLetter(stage.store, job.name, run.slot)
    expect(letter).toMatchObject({ reason: 'plan', state: 'open' })
    // It may have been the machine: a redrive reads the source again.
    const access = { store: stage.store, enqueuer: stage.enqueuer, random: () => 0.5 }
    await redrive(access, { selection: { ids: [run.slot] }, operator: { name: 'ann' }, mode: 'redrive' })
    expect(await stage.ended(run, { version: 2 })).toMatchObject({ state: 'succeeded' })
    expect(reads).toBe(1)
  })
})
