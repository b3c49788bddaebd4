import { CronceError, every, formatSlotKey, slotIdOf } from '@cronce/core'
import { listSlots, readSlot } from '@cronce/store'
import { createTrigger } from '@cronce/trigger'
import { handle } from '@cronce/worker'
import { Redis } from 'ioredis'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { describeNeeding, type RedisServer, startRedis, waitUntil } from '../support/index.ts'
import { type Ground, onceSoon, openGround, repeated, told } from './ground.ts'
import { type JobSpec, jobOf, type Row } from './programs/job-spec.ts'

let server: RedisServer
let ground: Ground
beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())
beforeEach(async () => {
  ground = await openGround(server)
  await ground.setRows(['only'])
})
afterEach(() => ground.close())

const silent = pino({ level: 'silent' })
const single = ({ after }: { after?: string | undefined }): Row[] => (after === undefined ? [{ id: 'only' }] : [])

describe('a deploy in which no replica lived when the slot came due (C43)', () => {
  it('is a late run, once, of whichever new replica is first', async () => {
    const { at, schedule } = onceSoon(4_000)
    const spec: JobSpec = { name: 'gap', schedule, onCrash: 'complete' }
    const slot = formatSlotKey({ job: 'gap', at })
    const old = await ground.replica({ jobs: [spec] })
    old.signal('SIGTERM')
    await old.exited
    await waitUntil(() => new Date().getTime() > at + 3_000, { message: 'the slot is past, and its grace' })
    const fresh = await Promise.all([ground.replica({ jobs: [spec] }), ground.replica({ jobs: [spec] })])
    const entry = async () => (await listSlots(ground.store, 'gap', { limit: 9 }))[0]
    await waitUntil(async () => (await entry())?.state === 'enqueued', { message: 'the late slot on the queue' })
    expect(await entry()).toMatchObject({ slot, cause: 'late', claims: 1 })
    expect(await ground.queued()).toEqual([slot])
    expect(fresh.flatMap((replica) => told(replica, 'slots.admitted'))).toMatchObject([{ job: 'gap', count: 1 }])
  })
})

describe('a slow run whose worker is killed, every second a slot, overlap "skip" (C61)', () => {
  it('goes on elsewhere; slots meanwhile are skipped with their reason, and no two runs overlap', async () => {
    const spec: JobSpec = { name: 'slow', schedule: every('1s'), onCrash: 'complete', overlap: 'skip' }
    const acts = { only: { kind: 'die', times: 1 } } as const
    await Promise.all([1, 2].map(() => ground.worker({ jobs: [spec], acts, delayMs: 1_500 })))
    await ground.replica({ jobs: [spec] })
    const slots = async () => (await listSlots(ground.store, 'slow', { limit: 99 })).toReversed()
    await waitUntil(async () => (await slots()).filter(({ state }) => state === 'succeeded').length >= 3, {
      message: 'three runs',
      timeoutMs: 30_000,
    })
    const all = await slots()
    expect(all.filter(({ crashes }) => crashes > 0)).toHaveLength(1)
    expect(all[0]).toMatchObject({ state: 'succeeded', crashes: 1 })
    const skipped = all.filter(({ state }) => state === 'skipped')
    expect(skipped.length).toBeGreaterThanOrEqual(3)
    for (const { reason } of skipped) expect(reason).toMatch(/overlap/)
    expect(all.map(({ at }) => at)).toEqual(all.map((_, index) => (all[0]?.at ?? 0) + index * 1_000))
    const [starts, effects] = [await ground.effects('start'), await ground.effects('effect')]
    expect(repeated(effects.map(({ slot }) => slot))).toEqual([])
    for (const { slot, at } of effects) {
      // From its last start to its effect, nothing else ran.
      const from = starts.findLast((start) => start.slot === slot)?.at ?? at
      expect(starts.filter((start) => start.slot !== slot && start.at > from && start.at < at)).toEqual([])
    }
  })
})

describeNeeding(['redis-server'], 'a Redis that may evict claims (C63)', () => {
  it('is refused by what INFO says, CONFIG or not, unless it is accepted by name', async () => {
    const unsafe = await startRedis({ maxmemory: '20mb', maxmemoryPolicy: 'volatile-lru' })
    const admin = new Redis(unsafe.url)
    await admin.call('ACL', 'SETUSER', 'default', '-config')
    const make = (accept: readonly 'eviction'[]) =>
      createTrigger({ service: ground.service, jobs: [], redis: unsafe.url, logger: silent, accept })
    try {
      await expect(make([]).start()).rejects.toThrow(CronceError)
      await expect(make([]).start()).rejects.toThrow(/volatile-lru/)
      const accepted = make(['eviction'])
      await accepted.start()
      expect(accepted.health().state).toBe('running')
      await accepted.stop()
    } finally {
      admin.disconnect()
      await unsafe.stop()
    }
  })

  it('a claim that vanishes between claim and add makes two adds and one run', async () => {
    const { at, schedule } = onceSoon(2_500)
    const job = jobOf({ name: 'evicted', schedule, onCrash: 'complete' })
    const slot = formatSlotKey({ job: 'evicted', at })
    const adds: string[] = []
    const triggers = ['one', 'two'].map((id) => {
      let client: Redis | undefined
      const redis = () => (client = new Redis(server.url))
      const trigger = createTrigger({
        service: ground.service,
        jobs: [job],
        redis,
        id,
        logger: silent,
        sweepEvery: '300ms',
      })
      trigger.events.on('slot.claimed', () => {
        if (adds.length === 0) void client?.del(`cronce:{${ground.service}:job:evicted}:claim:${slotIdOf(slot)}`)
      })
      trigger.events.on('slot.added', () => void adds.push(id))
      return trigger
    })
    let runs = 0
    const { told: heard } = await ground.work([handle(job, { entities: single, each: () => void (runs += 1) })])
    await Promise.all(triggers.map((trigger) => trigger.start()))
    try {
      await waitUntil(() => heard('run.ended').length > 0, { message: 'the run' })
      await waitUntil(async () => (await ground.queued()).length === 0, { message: 'nothing on the queue' })
      expect(adds.length).toBeGreaterThanOrEqual(1)
      expect(runs).toBe(1)
      const entry = await readSlot(ground.store, 'evicted', slotIdOf(slot))
      expect(entry).toMatchObject({ state: 'succeeded', entities: { done: 1 } })
    } finally {
      await Promise.all(triggers.map((trigger) => trigger.stop()))
    }
  })
})
