import { cron } from '@cronce/core'
import { redrive } from '@cronce/operations'
import { handle } from '@cronce/worker'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeNeeding, type RedisServer, startRedis, waitUntil } from '../support/index.ts'
import { type Ground, openGround } from './ground.ts'
import { jobOf, type Row } from './programs/job-spec.ts'

let server: RedisServer
let ground: Ground
beforeAll(async () => {
  server = await startRedis()
  ground = await openGround(server)
})
afterAll(async () => {
  await ground.close()
  await server.stop()
})

const ENTITIES = 20_000
const FAILING = 2_000
const LONGEST_MS = 100

describeNeeding(['redis-server'], 'promise 9, bounded (C69)', () => {
  it('no Redis command takes longer than 100 ms over a run of 20,000 entities, 2,000 dead letters and their redrive', async () => {
    const job = jobOf({
      ...{ name: 'large', schedule: cron('0 3 1 1 *'), onCrash: 'complete', chunk: { size: 500, concurrency: 50 } },
      retry: { attempts: 1, backoff: { type: 'fixed', delay: 20, jitter: 0 } },
    })
    const all = Array.from(
      { length: ENTITIES },
      (_, index): Row => ({ id: `entity-${String(index).padStart(6, '0')}` }),
    )
    const failing = new Set(all.slice(0, FAILING).map(({ id }) => id))
    let broken = true
    const each = ({ id }: Row) => {
      if (broken && failing.has(id)) throw new Error('told to')
    }
    const entities = ({ after, limit }: { after?: string | undefined; limit: number }) => {
      const from = after === undefined ? 0 : Number(after.slice('entity-'.length)) + 1
      return all.slice(from, from + limit)
    }
    await ground.redis.config('SET', 'slowlog-log-slower-than', LONGEST_MS * 1_000)
    await ground.redis.call('SLOWLOG', 'RESET')
    await ground.work([handle(job, { entities, each })])
    const run = await ground.start(job)
    expect(await ground.ended(run, { timeoutMs: 40_000 })).toMatchObject({
      state: 'partial',
      entities: { planned: ENTITIES, done: ENTITIES - FAILING, dead: FAILING },
    })
    const idle = async () => (await ground.queued()).length === 0
    await waitUntil(async () => (await ground.queued('dead-letters')).length === FAILING && (await idle()), {
      message: 'every dead letter shown',
      timeoutMs: 20_000,
    })
    broken = false
    const access = { store: ground.store, enqueuer: ground.enqueuer, random: () => 0.5 }
    const selection = { job: job.name }
    const { entities: redriven } = await redrive(access, { selection, operator: { name: 'op' }, mode: 'redrive' })
    expect(redriven).toBe(FAILING)
    expect(await ground.ended(run, { version: 2, timeoutMs: 40_000 })).toMatchObject({
      state: 'succeeded',
      entities: { planned: ENTITIES, done: ENTITIES, dead: 0 },
    })
    expect(await ground.redis.call('SLOWLOG', 'GET', 10)).toEqual([])
  })
})
