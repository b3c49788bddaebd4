import { cron, defineJob } from '@cronce/core'
import { showRun } from '@cronce/operations'
import { listDays, listGaps } from '@cronce/store'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createFleet, type Fleet } from '../support/fleet.ts'
import { type RedisServer, startRedis } from '../support/index.ts'
import { endRun, startRun } from '../support/play-worker.ts'

let redis: RedisServer
let fleet: Fleet

beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())
beforeEach(() => {
  fleet = createFleet({ url: redis.url, service: 'history' })
})
afterEach(() => fleet.close())

const MINUTE = 60_000
const DETAIL = 30

describe('history (C70, promise 9)', () => {
  it('reaches a plateau of keys, and every slot is in detail or in the sum of its day', async () => {
    const minutely = defineJob({ name: 'minutely', schedule: cron('* * * * *'), onCrash: 'complete' })
    const yearly = defineJob({ name: 'yearly', schedule: cron('0 0 1 1 *'), onCrash: 'complete' })
    for (const id of ['a', 'b', 'c']) await fleet.join(id, [minutely, yearly], { history: { slots: DETAIL } })
    const run = async (minutes: number) => {
      for (let minute = 0; minute < minutes; minute++) {
        await fleet.advance(MINUTE, MINUTE)
        await startRun(fleet.store, 'minutely')
        await endRun(fleet.store, 'minutely')
      }
      await fleet.advance(2 * MINUTE, MINUTE / 2)
      await startRun(fleet.store, 'minutely').then(() => endRun(fleet.store, 'minutely'))
      return (await fleet.redis.keys('cronce:{history:job:*')).filter((key) => !key.includes(':members:')).length
    }
    const first = await run(60)
    const second = await run(60)
    expect(second).toBeLessThanOrEqual(first + 5)
    const detail = (await fleet.slots('minutely')).length
    expect(detail).toBeLessThanOrEqual(DETAIL + 5)
    const days = await listDays(fleet.store, 'minutely', { from: '2026-06-01', to: '2026-06-02' })
    const folded = days.flatMap(({ slots }) => Object.values(slots)).reduce((sum, count) => sum + count, 0)
    expect(folded + detail).toBe(124)
    for (const key of await fleet.redis.keys('cronce:{history:job:*:members:*')) {
      expect(await fleet.redis.pttl(key)).toBeGreaterThan(0)
    }
  })

  it('says of each slot that a long run skipped why, also when the schedule is another by now', async () => {
    const often = { name: 'often', onCrash: 'complete', overlap: 'skip' } as const
    const first = await fleet.join('a', [defineJob({ ...often, schedule: cron('* * * * *') })])
    await fleet.advance(MINUTE, MINUTE)
    await startRun(fleet.store, 'often')
    await fleet.advance(40 * MINUTE, MINUTE / 2)
    await fleet.leave(first)
    await fleet.join('b', [defineJob({ ...often, schedule: cron('7 * * * *') })])
    await fleet.advance(2 * MINUTE, MINUTE / 2)
    const gaps = await listGaps(fleet.store, 'often', { afterAt: 0, limit: 10 })
    expect(gaps.map(({ count, state }) => [count > 20, state])).toEqual([[true, 'skipped']])
    const reason = 'overlap: 20260601T120100Z has not ended'
    const { run, events } = await showRun(fleet.store, 'often@20260601T120300Z')
    expect(run).toMatchObject({ slot: 'often@20260601T120300Z', state: 'skipped', reason })
    expect(events.map(({ event, detail }) => [event, detail['reason']])).toEqual([['skipped', reason]])
    await expect(showRun(fleet.store, 'often@20260601T120330Z')).rejects.toMatchObject({ code: 'CRONCE_RUN_UNKNOWN' })
  })
})
