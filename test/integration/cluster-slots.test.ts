import { randomUUID } from 'node:crypto'
import { defineJob, every } from '@cronce/core'
import { redrive } from '@cronce/operations'
import { listDeadLetterIds, listSlots } from '@cronce/store'
import { createTrigger, type Trigger } from '@cronce/trigger'
import { handle } from '@cronce/worker'
import { Cluster, Redis } from 'ioredis'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { describeNeeding, type RedisCluster, startRedisCluster, waitUntil } from '../support/index.ts'
import { openStage, type Stage } from '../support/worker-stage.ts'

describeNeeding(['redis-server'], 'a service on a cluster of three masters (C62)', () => {
  let cluster: RedisCluster
  let stage: Stage
  const redis = () => new Cluster([...cluster.nodes], { redisOptions: { maxRetriesPerRequest: null } })
  const triggers: Trigger[] = []
  beforeAll(async () => {
    cluster = await startRedisCluster()
    stage = openStage({ url: redis })
  })
  afterAll(async () => {
    await Promise.all(triggers.map((trigger) => trigger.stop()))
    await stage.close()
    await cluster.stop()
  })

  it('fires, runs, buries and redrives on keys that spread over the nodes, without one CROSSSLOT', async () => {
    const jobs = ['eu/daily', 'billing:daily', '{x}', '日次', 'a'].map((name, index) =>
      defineJob({
        ...{ name, schedule: every('1s'), onCrash: 'complete', overlap: 'allow', queue: `q${index % 3}` },
        entity: { schema: z.object({ id: z.string() }), key: ({ id }) => id },
        retry: { attempts: 1 },
      }),
    )
    let broken = true
    const troubles: unknown[] = []
    for (const id of ['one', 'two', randomUUID()]) {
      const trigger = createTrigger({
        service: stage.service,
        jobs,
        redis,
        id,
        logger: pino({ level: 'silent' }),
        sweepEvery: '500ms',
      })
      trigger.events.onAny((event, facts) => {
        if ('error' in facts || event === 'tick.failed') troubles.push([event, facts])
      })
      triggers.push(trigger)
      await trigger.start()
    }
    const handlers = jobs.map((job) =>
      handle(job, {
        entities: ({ after }) => (after === undefined ? [{ id: 'good' }, { id: 'bad:{y}' }] : []),
        each: async ({ id }, ctx) => {
          await ctx.once('effect', () => undefined)
          if (broken && id !== 'good') throw new Error('told to')
        },
      }),
    )
    const worker = await stage.work(handlers, { queues: { q0: 4, q1: 4, q2: 4 } })
    const ended = async (name: string, state: string) =>
      (await listSlots(stage.store, name, { limit: 99 })).filter((slot) => slot.state === state)
    for (const { name } of jobs)
      await waitUntil(async () => (await ended(name, 'partial')).length >= 2, {
        message: `two runs of ${name}`,
        timeoutMs: 20_000,
      })
    broken = false
    await Promise.all(triggers.map((trigger) => trigger.stop()))
    for (const { name } of jobs) {
      // Nothing doubled, nothing lost, by three replicas.
      const slots = (await listSlots(stage.store, name, { limit: 99 }))
        .map(({ at, claims }) => [at, claims])
        .toReversed()
      expect(slots).toEqual(slots.map((_, index) => [(slots[0]?.[0] ?? 0) + index * 1_000, 1]))
    }
    const access = { store: stage.store, enqueuer: stage.enqueuer, random: () => 0.5 }
    for (const { name } of jobs) {
      await waitUntil(
        async () => (await ended(name, 'running')).length + (await ended(name, 'enqueued')).length === 0,
        { message: `${name} at rest` },
      )
      const ids = await listDeadLetterIds(stage.store, name, { offset: 0, limit: 99 })
      expect(ids.length).toBeGreaterThanOrEqual(2)
      expect((await redrive(access, { selection: { ids }, operator: { name: 'op' }, mode: 'redrive' })).entities).toBe(
        ids.length,
      )
      await waitUntil(async () => (await ended(name, 'succeeded')).length >= ids.length, {
        message: `${name} redriven`,
      })
    }
    expect(troubles).toEqual([])
    expect(worker.told('queue.troubled')).toEqual([])
    const counts = await Promise.all(cluster.masters.map(({ port }) => inspect(port)))
    expect(counts.filter(({ keys }) => keys > 0).length).toBeGreaterThan(1)
    expect(counts.flatMap(({ errors }) => errors)).toEqual([])
  })
})

/** Errors of a healthy day: asked for another node's slot, for a script not yet loaded, for a subcommand of a newer Redis. */
const NORMAL = ['MOVED', 'NOSCRIPT', 'ERR']

/** How many keys a node has, and the kinds of other errors it ever answered with. */
async function inspect(port: number): Promise<{ keys: number; errors: string[] }> {
  const node = new Redis({ host: '127.0.0.1', port })
  try {
    const errors = [...(await node.info('errorstats')).matchAll(/errorstat_(\w+)/g)].map(([, kind = '']) => kind)
    return { keys: await node.dbsize(), errors: errors.filter((kind) => !NORMAL.includes(kind)) }
  } finally {
    node.disconnect()
  }
}
