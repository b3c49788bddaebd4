import { cron, defineJob } from '@cronce/core'
import { handle } from '@cronce/worker'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { describeNeeding, type RedisServer, startRedis, takeTime, waitUntil } from '../support/index.ts'
import { openStage, type Stage } from '../support/worker-stage.ts'

let server: RedisServer
let stage: Stage
beforeAll(async () => {
  server = await startRedis({ appendonly: 'always' })
})
afterAll(() => server.stop())
beforeEach(() => {
  stage = openStage(server)
})
afterEach(() => stage.close())

for (const onCrash of ['complete', 'skip'] as const) {
  const job = defineJob({
    name: `billing-${onCrash}`,
    schedule: cron('0 2 * * *'),
    onCrash,
    entity: { schema: z.object({ id: z.string() }), key: ({ id }) => id },
    chunk: { size: 20, concurrency: 2 },
  })

  describeNeeding(['redis-server'], `a run with onCrash "${onCrash}"`, () => {
    it('goes on where it was when Redis was away for a while, and repeats nothing', async () => {
      const seen: string[] = []
      const { told } = await stage.work([
        handle(job, {
          entities: ({ after = '', limit }) =>
            Array.from({ length: 100 }, (_, index) => ({ id: `e${String(index).padStart(3, '0')}` }))
              .filter(({ id }) => id > after)
              .slice(0, limit),
          each: async ({ id }) => {
            seen.push(id)
            await takeTime(20)
          },
        }),
      ])
      const run = await stage.start(job)
      await waitUntil(() => seen.length > 15, { message: 'entities under way' })
      await server.kill()
      const atKill = seen.length
      await waitUntil(() => told('queue.troubled').length > 2, { message: 'the worker to notice' })
      await server.restart()
      const entry = await stage.ended(run, { timeoutMs: 30_000 })
      expect(entry).toMatchObject({
        state: 'succeeded',
        crashes: 0,
        entities: { planned: 100, done: 100, dead: 0, abandoned: 0 },
      })
      expect(atKill).toBeLessThan(100)
      expect(seen.toSorted()).toEqual([...new Set(seen)].toSorted())
      expect(told('chunk.fenced-off')).toEqual([])
    })
  })
}

describe('a stop', () => {
  it('without Redis ends by its deadline', async () => {
    const job = defineJob({ name: 'nightly', schedule: cron('0 2 * * *'), onCrash: 'complete' })
    const { worker } = await stage.work([handle(job, { each: () => undefined })], { shutdownTimeout: '200ms' })
    await server.kill()
    const from = performance.now()
    await worker.stop()
    expect(performance.now() - from).toBeLessThan(8_000)
    expect(worker.health().state).toBe('stopped')
    await server.restart()
  })
})
