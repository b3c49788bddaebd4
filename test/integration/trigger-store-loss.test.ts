import { cron, defineJob, every } from '@cronce/core'
import { listGaps, type RedisClient } from '@cronce/store'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createFleet, type Fleet } from '../support/fleet.ts'
import { type RedisServer, startRedis } from '../support/index.ts'

let redis: RedisServer
let fleet: Fleet

beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())
beforeEach(() => {
  fleet = createFleet({ url: redis.url, service: 'loss' })
})
afterEach(async () => {
  await fleet.redis.flushall()
  await fleet.close()
})

const MINUTE = 60_000
const complete = defineJob({ name: 'complete', schedule: cron('* * * * *'), onCrash: 'complete', overlap: 'allow' })
const skip = defineJob({ name: 'skip', schedule: cron('* * * * *'), onCrash: 'skip', overlap: 'allow' })

/** Everything this Redis holds: what a replica that lagged behind would come up with after a failover. */
async function snapshot(client: RedisClient): Promise<() => Promise<void>> {
  const keys = await client.keys('*')
  const values = await Promise.all(keys.map((key) => client.dumpBuffer(key)))
  return async () => {
    await client.flushall()
    await Promise.all(keys.map((key, index) => client.restore(key, 0, values[index]!)))
  }
}

/** What the ledger says of the minutes after noon: a record's state, or the gap that covers it. */
async function account(job: string, minutes: number): Promise<string[]> {
  const [slots, gaps] = await Promise.all([fleet.slots(job), listGaps(fleet.store, job, { afterAt: 0, limit: 100 })])
  return Array.from({ length: minutes }, (_, index) => {
    const at = Date.UTC(2026, 5, 1, 12, index + 1)
    const entry = slots.find((slot) => slot.at === at)
    const gap = gaps.find(({ fromAt, toAt }) => at > fromAt && at <= toAt)
    return entry !== undefined && gap !== undefined ? 'double' : (entry?.state ?? gap?.state ?? 'unrecorded')
  })
}

describe('a Redis that restarts empty', () => {
  it('ends in recorded states: complete jobs run what nobody remembers, skip jobs give it up', async () => {
    await fleet.join('a', [complete, skip])
    await fleet.join('b', [complete, skip])
    await fleet.advance(3 * MINUTE)
    await fleet.redis.flushall()
    await fleet.advance(2 * MINUTE)
    expect(await account('complete', 5)).toEqual(['missed', 'missed', 'missed', 'enqueued', 'enqueued'])
    const skipped = await account('skip', 5)
    expect(skipped.slice(0, 3)).toEqual(['missed', 'missed', 'missed'])
    expect(skipped[4]).toBe('enqueued')
    expect(skipped).not.toContain('unrecorded')
    expect(skipped).not.toContain('double')
  })

  it('is told by the replica that remembers most, even when one that knows nothing registers first', async () => {
    const old = await fleet.join('old', [complete])
    await fleet.advance(3 * MINUTE)
    await fleet.redis.flushall()
    await fleet.join('new', [complete])
    await fleet.advance(2 * MINUTE)
    expect(await account('complete', 5)).toEqual(['missed', 'missed', 'missed', 'enqueued', 'enqueued'])
    expect(old.health().jobs).toBe(1)
  })
})

describe('a failover behind what a replica remembers', () => {
  it('runs no slot of a skip job again that was recorded, and accounts for every one', async () => {
    await fleet.join('a', [complete, skip])
    await fleet.advance(2 * MINUTE)
    const goBack = await snapshot(fleet.redis)
    await fleet.advance(2 * MINUTE)
    await goBack()
    await fleet.advance(2 * MINUTE)
    for (const job of ['skip', 'complete']) {
      expect(await account(job, 6)).toEqual(['enqueued', 'enqueued', 'missed', 'missed', 'enqueued', 'enqueued'])
    }
  })
})

describe('a Redis out of reach', () => {
  it('is told with the slots that are due, and they run when it is back', async () => {
    const job = defineJob({ name: 'due', schedule: every('1s'), onCrash: 'complete', overlap: 'allow' })
    const trigger = await fleet.join('a', [job])
    const failed: string[][] = []
    trigger.events.on('tick.failed', ({ dueSlots }) => failed.push([...dueSlots]))
    await fleet.redis.config('SET', 'maxmemory', '1')
    await fleet.redis.config('SET', 'maxmemory-policy', 'noeviction')
    fleet.clock.advance(1_000)
    await expect(trigger.tick()).rejects.toThrow(/OOM/)
    expect(failed).toEqual([['due@20260601T120001Z']])
    await fleet.redis.config('SET', 'maxmemory', '0')
    await fleet.advance(1_000)
    expect((await fleet.slots('due')).map(({ id, state }) => [id, state])).toEqual([
      ['20260601T120001Z', 'enqueued'],
      ['20260601T120002Z', 'enqueued'],
    ])
  })
})
