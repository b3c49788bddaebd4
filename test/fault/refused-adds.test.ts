import { formatSlotKey } from '@cronce/core'
import { type LedgerEntry, listSlots } from '@cronce/store'
import { createTrigger, type Trigger } from '@cronce/trigger'
import { Redis } from 'ioredis'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { freePort, type RedisServer, startRedis, waitUntil } from '../support/index.ts'
import { CLAIM_LEASE_MS, type Ground, onceSoon, openGround, SWEEP_MS } from './ground.ts'
import { jobOf } from './programs/job-spec.ts'

let server: RedisServer
let ground: Ground
let client: Redis
let trigger: Trigger
beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())
beforeEach(async () => {
  ground = await openGround(server)
})
afterEach(async () => {
  await trigger.stop()
  await ground.close()
})

/** A replica with one job that is due once, and every event of that slot. */
async function fire(name: string) {
  const { at, schedule } = onceSoon()
  const job = jobOf({ name, schedule, onCrash: 'complete' })
  const slot = formatSlotKey({ job: name, at })
  const told: string[] = []
  trigger = createTrigger({
    ...{ service: ground.service, jobs: [job], logger: pino({ level: 'silent' }) },
    // The test shares the replica's own connection: what it sends there goes before the add.
    redis: () => (client = new Redis(server.url, { commandTimeout: 2_000 })),
    ...{ claimLease: CLAIM_LEASE_MS, sweepEvery: SWEEP_MS },
  })
  trigger.events.onAny((event, facts) => {
    if ('slot' in facts && facts.slot === slot) told.push(event)
  })
  const entry = async (): Promise<LedgerEntry | undefined> => (await listSlots(ground.store, name, { limit: 9 }))[0]
  const enqueued = () =>
    waitUntil(async () => ((await entry())?.state === 'enqueued' ? await entry() : undefined), {
      message: `${slot} enqueued`,
    })
  return { slot, told, entry, enqueued }
}

describe('an add that fails for certain (C40, T2)', () => {
  it('for want of memory gives the claim back at once; the slot is due, and on the queue when there is room', async () => {
    const { slot, told, entry, enqueued } = await fire('oom')
    let refusals = 0
    trigger.events.on('slot.claimed', () => {
      if ((refusals += 1) === 1) void client.config('SET', 'maxmemory', '1')
    })
    await trigger.start()
    await waitUntil(() => told.includes('slot.released'), { message: 'the release' })
    expect(await entry()).toMatchObject({ state: 'due', claims: 1 })
    expect(await ground.queued()).toEqual([])
    // Nobody waits for the lease: the claim is gone.
    expect(await ground.redis.keys('*:claim:*')).toEqual([])
    await client.config('SET', 'maxmemory', '0')
    expect(await enqueued()).toMatchObject({ claims: 2 })
    expect(await ground.queued()).toEqual([slot])
    expect(told).toEqual(['slot.claimed', 'slot.released', 'slot.claimed', 'slot.added', 'slot.enqueued'])
  })

  it('on a server that became a replica: claimed when it is a master again, and on the queue once (C66)', async () => {
    const { slot, told, entry, enqueued } = await fire('readonly')
    const port = await freePort()
    let claims = 0
    trigger.events.on('slot.claimed', () => {
      if ((claims += 1) === 1) void client.replicaof('127.0.0.1', port)
    })
    await trigger.start()
    await waitUntil(() => claims === 1, { message: 'the claim' })
    await waitUntil(() => told.includes('slot.unsure'), { message: 'the refusal, of the release as well' })
    expect(await entry()).toMatchObject({ state: 'claimed', claims: 1 })
    expect(await ground.queued()).toEqual([])
    await client.replicaof('NO', 'ONE')
    expect(await enqueued()).toMatchObject({ claims: 2 })
    expect(await ground.queued()).toEqual([slot])
    expect(told.filter((event) => event === 'slot.enqueued')).toHaveLength(1)
  })
})
