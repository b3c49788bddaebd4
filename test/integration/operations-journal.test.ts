import { cron, defineJob, every } from '@cronce/core'
import {
  type Action,
  backfill,
  listActions,
  PERMISSIONS,
  pauseJob,
  pinImage,
  recordAction,
  removeJob,
  resumeJob,
  runNow,
  runSlot,
  type ServiceAccess,
  upsertJob,
} from '@cronce/operations'
import { askAction, serviceKey } from '@cronce/store'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { accessOf, OPERATOR, workAll } from '../support/by-hand.ts'
import { createFleet, type Fleet, NOON } from '../support/fleet.ts'
import { type RedisServer, startRedis } from '../support/index.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

let redis: RedisServer
let fleet: Fleet
let access: ServiceAccess
let services = 0

beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())
beforeEach(async () => {
  services += 1
  fleet = createFleet({ url: redis.url, service: `journal-${services}` })
  access = accessOf(fleet)
})
afterEach(async () => {
  await access.enqueuer.close()
  await fleet.close()
})

const job = defineJob({
  name: 'job',
  schedule: cron('*/10 * * * *'),
  onCrash: 'complete',
  overlap: 'allow',
  catchUp: { mode: 'skip' },
})
const ann = { name: 'ann', way: 'console', role: 'operator' } as const
const rows = async (query = {}) => (await listActions(fleet.store, query)).rows
const told = async (query = {}) =>
  (await rows(query)).map(({ by, action, outcome, result }) => [by, action, outcome, result])

describe('every change', () => {
  it('is in the journal: who, when by Redis, by which way, why and what came of it; newest first', async () => {
    await fleet.join('a', [job])
    await pauseJob(access, { job: 'job', operator: ann, note: 'bank moves' })
    await resumeJob(access, { job: 'job', operator: { name: 'bob', way: 'cli' } })
    const run = await runNow(access, { job: 'job', operator: OPERATOR, why: 'incident 4711' })
    await upsertJob(access, { job: { name: 'tenant', schedule: every('1h'), onCrash: 'skip' }, operator: OPERATOR })
    await removeJob(access, { job: 'tenant', operator: OPERATOR, note: 'left us' })
    expect(
      (await rows()).map(({ action, by, way, role, job: of, note, outcome, result, at }) => ({
        ...{ action, by, way, role, of, note, outcome, result, at },
      })),
    ).toEqual([
      {
        action: 'remove-job',
        by: OPERATOR.name,
        way: 'code',
        role: 'admin',
        of: 'tenant',
        note: 'left us',
        outcome: 'done',
        result: 'removed',
        at: NOON,
      },
      {
        action: 'upsert-job',
        by: OPERATOR.name,
        way: 'code',
        role: 'admin',
        of: 'tenant',
        note: undefined,
        outcome: 'done',
        result: 'registered',
        at: NOON,
      },
      {
        action: 'run-now',
        by: OPERATOR.name,
        way: 'code',
        role: 'admin',
        of: 'job',
        note: 'incident 4711',
        outcome: 'done',
        result: 'enqueued',
        at: NOON,
      },
      {
        action: 'resume',
        by: 'bob',
        way: 'cli',
        role: 'admin',
        of: 'job',
        note: '',
        outcome: 'done',
        result: 'resuming',
        at: NOON,
      },
      {
        action: 'pause',
        by: 'ann',
        way: 'console',
        role: 'operator',
        of: 'job',
        note: 'bank moves',
        outcome: 'done',
        result: 'paused',
        at: NOON,
      },
    ])
    expect((await rows({ slot: run.slot })).map(({ action }) => action)).toEqual(['run-now'])
  })

  it('of a slot is found by that slot: the run by hand, the backfill that ran it', async () => {
    await fleet.join('a', [job])
    // Everybody is away for an hour, and what was due then is cut.
    fleet.clock.advance(HOUR + 5 * MINUTE)
    await fleet.tick()
    await fleet.sweep()
    const first = 'job@20260601T121000Z'
    const second = 'job@20260601T122000Z'
    await runSlot(access, { job: 'job', slot: first, operator: ann, why: 'needed' })
    await workAll(fleet.store, 'job')
    const range = { job: 'job', fromAt: NOON + 20 * MINUTE, toAt: NOON + 30 * MINUTE }
    const stop = new AbortController()
    await backfill(access, {
      ...range,
      ...{ operator: OPERATOR, clock: fleet.clock, signal: stop.signal },
      // One that is told to stop has changed what it put on the queue until then.
      onProgress: ({ state }) => state === 'enqueued' && stop.abort(),
    })
    expect(await told({ slot: first })).toEqual([['ann', 'run-slot', 'done', 'enqueued']])
    expect(await rows({ slot: second })).toMatchObject([{ action: 'backfill', result: 'stopped', counts: { left: 1 } }])
    expect(await told({ job: 'job', who: 'ann' })).toEqual([['ann', 'run-slot', 'done', 'enqueued']])
    expect(await rows({ job: 'jo' })).toEqual([])
    await expect(listActions(fleet.store, { slot: 'odd' })).rejects.toMatchObject({ code: 'CRONCE_SLOT_KEY_INVALID' })
  })

  it('that changed nothing leaves no row', async () => {
    await fleet.join('a', [job])
    const tenant = { name: 'tenant', schedule: every('1h'), onCrash: 'skip' } as const
    await upsertJob(access, { job: tenant, operator: OPERATOR })
    await expect(runSlot(access, { job: 'job', slot: '20260601T130000Z', operator: ann })).rejects.toMatchObject({
      code: 'CRONCE_SLOT_EARLY',
    })
    await pauseJob(access, { job: 'job', operator: ann })
    const before = await rows()
    await upsertJob(access, { job: tenant, operator: OPERATOR })
    await pauseJob(access, { job: 'job', operator: ann })
    await resumeJob(access, { job: 'tenant', operator: ann })
    await expect(pauseJob(access, { job: 'nobody', operator: ann })).rejects.toMatchObject({
      code: 'CRONCE_JOB_UNKNOWN',
    })
    await expect(removeJob(access, { job: 'job', operator: OPERATOR })).rejects.toMatchObject({
      code: 'CRONCE_JOB_CARRIED',
    })
    expect(await rows()).toEqual(before)
    expect(before).toHaveLength(2)
  })

  it('that failed half-way says so, and one whose process died says that it was asked', async () => {
    await fleet.join('a', [job])
    const asked = { operator: ann, action: 'redrive', job: 'job', selection: 'job=job' } as const
    const broken = recordAction(access, asked, () => Promise.reject(new TypeError('payload of a customer')))
    await expect(broken).rejects.toThrow('payload of a customer')
    await askAction(fleet.store, 'people', { by: 'ann', way: 'cli', role: 'admin', action: 'discard' })
    expect(await told()).toEqual([
      ['ann', 'discard', 'asked', ''],
      ['ann', 'redrive', 'failed', 'TypeError'],
    ])
  })

  it('is answered as it came out where its end cannot be written, and the journal says that it was asked', async () => {
    await fleet.join('a', [job])
    const key = `${serviceKey(fleet.store.service)}:actions:rows`
    const faults: string[] = []
    const onceBroken = { store: fleet.store, onFault: (_: unknown, what: string) => void faults.push(what) }
    // From within the change, Redis refuses to write the end.
    const breaking = async <T>(outcome: () => Promise<T>) => {
      await fleet.store.redis.rename(key, `${key}:kept`)
      await fleet.store.redis.set(key, 'no journal')
      return await outcome()
    }
    const mend = () => fleet.store.redis.rename(`${key}:kept`, key)
    const asked = { operator: ann, action: 'redrive', job: 'job' } as const
    const made = recordAction(onceBroken, asked, () =>
      breaking(() => Promise.resolve({ answer: 'made', end: { result: 'redriven' } })),
    )
    expect(await made).toBe('made')
    await mend()
    const failed = recordAction(onceBroken, asked, () =>
      breaking(() => Promise.reject(new TypeError('the real reason'))),
    )
    await expect(failed).rejects.toThrow('the real reason')
    await mend()
    expect(await told()).toEqual([
      ['ann', 'redrive', 'asked', ''],
      ['ann', 'redrive', 'asked', ''],
    ])
    expect(faults).toEqual(Array(2).fill('the end of a change is not in the journal: redrive'))
  })

  it('needs the role that the table names, and leaves no row without it', async () => {
    await fleet.join('a', [job])
    for (const [action, needed] of Object.entries(PERMISSIONS) as [Action, string][]) {
      for (const role of ['viewer', 'operator', 'admin'] as const) {
        const may = role === 'admin' || (role === 'operator' && needed === 'operator')
        const asked = recordAction(access, { operator: { name: 'eve', role }, action }, () =>
          Promise.resolve({ answer: 'made', end: 'unchanged' }),
        )
        if (may) expect(await asked).toBe('made')
        else await expect(asked).rejects.toMatchObject({ code: 'CRONCE_NOT_ALLOWED', fields: { role, action, needed } })
      }
    }
    const eve = { name: 'eve', role: 'viewer' } as const
    const refused = [
      pauseJob(access, { job: 'job', operator: eve }),
      resumeJob(access, { job: 'job', operator: eve }),
      runNow(access, { job: 'job', operator: eve }),
      runSlot(access, { job: 'job', slot: '20260601T121000Z', operator: eve }),
      runSlot(access, {
        job: 'job',
        slot: '20260601T121000Z',
        operator: { ...eve, role: 'operator' },
        ended: 'walk-again',
      }),
      backfill(access, { job: 'job', fromAt: NOON, toAt: NOON + HOUR, operator: eve, clock: fleet.clock }),
      upsertJob(access, {
        job: { name: 'x', schedule: every('1h'), onCrash: 'skip' },
        operator: { ...eve, role: 'operator' },
      }),
      removeJob(access, { job: 'job', operator: { ...eve, role: 'operator' } }),
      pinImage(access, { job: 'job', image: 'none', operator: { ...eve, role: 'operator' } }),
    ]
    for (const each of refused) await expect(each).rejects.toMatchObject({ code: 'CRONCE_NOT_ALLOWED' })
    expect(await rows()).toEqual([])
  })
})

describe('the journal', () => {
  it('is paged, newest first, and no row is shown twice while others are written', async () => {
    await fleet.join('a', [job])
    const seen: (string | undefined)[] = []
    for (let number = 0; number < 7; number++) await leaveNote(`old ${number}`)
    let cursor: string | undefined
    do {
      const page = await listActions(fleet.store, { limit: 3, cursor })
      seen.push(...page.rows.map((row) => row.note))
      await leaveNote('new')
      cursor = page.next
    } while (cursor !== undefined)
    expect(seen).toEqual([6, 5, 4, 3, 2, 1, 0].map((number) => `old ${number}`))
  })

  it('passes over rows that nobody can read', async () => {
    await fleet.join('a', [job])
    const key = `${serviceKey(fleet.store.service)}:actions:rows`
    await leaveNote('before')
    for (const row of [
      '',
      '{',
      'null',
      '[]',
      '7',
      '{"by":"ann"}',
      '{"by":1,"way":"cli","role":"admin","action":"pause"}',
    ]) {
      const id = await askAction(fleet.store, 'people', { by: 'ann', way: 'cli', role: 'admin', action: 'pause' })
      await fleet.store.redis.hset(key, id, row)
    }
    const slots = await askAction(fleet.store, 'people', { by: 'ann', way: 'cli', role: 'admin', action: 'run-slot' })
    await fleet.store.redis.hset(key, slots, '{"by":"ann","way":"cli","role":"admin","action":"run-slot","slots":7}')
    const ended = await askAction(fleet.store, 'people', { by: 'ann', way: 'cli', role: 'admin', action: 'discard' })
    await fleet.store.redis.hset(key, `${ended}:end`, '{"outcome":"done"')
    await leaveNote('after')
    const all = await rows()
    expect(all.map((row) => [row.note ?? row.action, row.outcome])).toEqual([
      ['after', all[0]?.outcome],
      ['discard', 'asked'],
      ['before', all[0]?.outcome],
    ])
    expect(await rows({ job: 'job' })).toBeInstanceOf(Array)
  })

  it('keeps 10,000 changes for 400 days; what programs register pushes out nothing that people did', async () => {
    await fleet.join('a', [job])
    await leaveNote('the first')
    const key = `${serviceKey(fleet.store.service)}:actions`
    const add = async (list: string, count: number) => {
      for (let number = 0; number < count; number += 1_000) {
        const ids = Array.from({ length: 1_000 }, (_, index) => `${list}-${number + index}`)
        await fleet.store.redis.zadd(`${key}:${list}`, ...ids.flatMap((id, index) => [NOON - 1 - number - index, id]))
        await fleet.store.redis.hset(`${key}:rows`, ...ids.flatMap((id) => [id, '{}']))
      }
    }
    await add('definitions', 10_000)
    for (let number = 0; number < 20; number++)
      await upsertJob(access, {
        job: { name: `t-${number}`, schedule: every('1h'), onCrash: 'skip' },
        operator: OPERATOR,
      })
    expect(await fleet.store.redis.zcard(`${key}:definitions`)).toBe(10_000)
    expect((await rows({ who: 'ann' })).map((row) => row.note)).toEqual(['the first'])
    await add('people', 9_000)
    await fleet.store.redis.zadd(`${key}:people`, NOON - HOUR, '000000000000')
    const bobs = { by: 'bob', way: 'cli', role: 'admin', action: 'pause' }
    await fleet.store.redis.hset(`${key}:rows`, '000000000000', JSON.stringify(bobs))
    // Behind all others.
    expect(await listActions(fleet.store, { who: 'bob' })).toMatchObject({ rows: [{ by: 'bob' }], next: undefined })
    await fleet.store.redis.zrem(`${key}:people`, '000000000000')
    await fleet.store.redis.hdel(`${key}:rows`, '000000000000')
    await add('people', 10_000)
    await leaveNote('the last')
    expect(await fleet.store.redis.zcard(`${key}:people`)).toBe(10_000)
    expect(await fleet.store.redis.hlen(`${key}:rows`)).toBe(2 * 10_000 + 20 + 2)
    fleet.clock.set(NOON + 401 * 24 * HOUR)
    const sizes = [await fleet.store.redis.zcard(`${key}:people`)]
    for (let number = 0; number < 3; number++) await leaveNote('much later')
    sizes.push(await fleet.store.redis.zcard(`${key}:people`))
    // 50 a change, so that no script takes long.
    expect(sizes).toEqual([10_000, 10_000 + 3 - 150])
  })
})

/** A change that leaves a row and nothing else. */
async function leaveNote(text: string): Promise<void> {
  await recordAction(access, { operator: ann, action: 'pause', note: text }, () =>
    Promise.resolve({ answer: undefined, end: { result: 'paused' } }),
  )
}
