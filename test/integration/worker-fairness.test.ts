import { cron, defineJob } from '@cronce/core'
import { handle, LEAST_OPEN_CHUNKS } from '@cronce/worker'
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

const of = (name: string) =>
  defineJob({
    ...{ name, schedule: cron('0 2 * * *'), onCrash: 'complete' },
    entity: { schema: z.number(), key: String },
    chunk: { size: 1, concurrency: 1 },
  })

describe('a run of 100,000 chunks (W10)', () => {
  it('holds up another job of its queue by its open chunks at most, however often that one runs', async () => {
    const [huge, small] = [of('huge'), of('small')]
    let [hugeDone, smallDone] = [0, 0]
    await stage.work([
      handle(huge, {
        entities: function* rows() {
          for (let index = 0; index < 100_000; index++) yield index
        },
        each: async () => {
          await takeTime(5)
          hugeDone += 1
        },
      }),
      handle(small, { entities: () => [1, 2, 3].values(), each: () => void (smallDone += 1) }),
    ])
    const long = await stage.start(huge)
    await waitUntil(() => hugeDone >= 100, { message: 'the long run is on its way', timeoutMs: 20_000 })
    const at = Date.UTC(2026, 7, 25, 2)
    for (const round of [1, 2, 3]) {
      const { waiting, active, delayed } = await stage.enqueuer.depth('default')
      expect(waiting + active + delayed).toBeLessThanOrEqual(LEAST_OPEN_CHUNKS + 5)
      const before = hugeDone
      const run = await stage.start(small, { at: at + round * 60_000 })
      await stage.ended(run, { timeoutMs: 10_000 })
      expect(smallDone).toBe(3 * round)
      // Three turns on the queue: its plan, its chunks, and what came in between; each behind the open chunks of the other.
      expect(hugeDone - before).toBeLessThanOrEqual(4 * LEAST_OPEN_CHUNKS)
    }
    const { state, entities } = await stage.read(long)
    expect(state).toBe('running')
    expect(entities.planned).toBeLessThan(2_000)
  })
})
