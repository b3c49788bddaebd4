import { cron, defineJob } from '@cronce/core'
import { handle } from '@cronce/worker'
import { Cluster } from 'ioredis'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { describeNeeding, type RedisCluster, startRedisCluster, waitUntil } from '../support/index.ts'
import { openStage, type Stage } from '../support/worker-stage.ts'

describeNeeding(['redis-server'], 'on a cluster of three masters', () => {
  let cluster: RedisCluster
  let stage: Stage
  beforeAll(async () => {
    cluster = await startRedisCluster()
    const nodes = cluster.nodes
    stage = openStage({ url: () => new Cluster([...nodes], { redisOptions: { maxRetriesPerRequest: null } }) })
  })
  afterAll(async () => {
    await stage.close()
    await cluster.stop()
  })

  it('runs of several jobs on several queues plan, execute, use receipts, bury and end', async () => {
    const jobs = ['eu/daily', 'billing:daily', '日次'].map((name, index) =>
      defineJob({
        name,
        schedule: cron('0 2 * * *'),
        onCrash: index === 1 ? 'skip' : 'complete',
        queue: `q${index}`,
        entity: { schema: z.object({ id: z.string() }), key: ({ id }) => id },
        chunk: { size: 10, concurrency: 5 },
        retry: { attempts: 2, backoff: { type: 'fixed', delay: '10ms' } },
      }),
    )
    const effects: string[] = []
    const done: string[] = []
    const handlers = jobs.map((job) =>
      handle(job, {
        entities: ({ after }) =>
          after === undefined ? Array.from({ length: 25 }, (_, index) => ({ id: `e:${index + 10}` })) : [],
        each: async ({ id }, ctx) => {
          await ctx.once('effect', () => void effects.push(ctx.idempotencyKey('effect')))
          if (id === 'e:12') throw new Error('bad one')
        },
        done: ({ state }) => void done.push(state),
      }),
    )
    const { told } = await stage.work(handlers, { queues: { q0: 2, q1: 2, q2: 2 } })
    const runs = await Promise.all(jobs.map((job) => stage.start(job)))
    for (const run of runs) {
      expect(await stage.ended(run)).toMatchObject({ state: 'partial', entities: { planned: 25, done: 24, dead: 1 } })
    }
    await waitUntil(() => done.length === 3, { message: 'done of every job' })
    expect(effects).toHaveLength(75)
    expect(new Set(effects).size).toBe(75)
    expect(told('queue.troubled')).toEqual([])
  })
})
