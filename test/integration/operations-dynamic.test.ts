import { cron, defineJob, every, type JobInput } from '@cronce/core'
import { auditService, jobHistory, removeJob, type ServiceAccess, upsertJob } from '@cronce/operations'
import { jobKey, listJobNames, listSlots, readJob } from '@cronce/store'
import { describe, expect, it } from 'vitest'
import { OPERATOR, workAll } from '../support/by-hand.ts'
import { type Fleet, NOON } from '../support/fleet.ts'
import { standOnGround } from '../support/operations-ground.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

let fleet: Fleet
let access: ServiceAccess
standOnGround('dynamic', (ground) => {
  ;({ fleet, access } = ground)
})

const tenant = (name: string, expression = '*/10 * * * *', extra: object = {}): JobInput => ({
  ...{ name, schedule: cron(expression), onCrash: 'complete' as const, overlap: 'allow' as const },
  ...extra,
})
const upsert = (job: JobInput) => upsertJob(access, { job, operator: OPERATOR })
const states = async (job: string) => (await fleet.slots(job)).map(({ id, state }) => `${id.slice(9, 13)} ${state}`)
const outcome = async () => (await auditService(fleet.store, { fromAt: NOON - HOUR, toAt: fleet.clock.now() })).outcome

/** Commands that Redis was sent while something was done, scripts counted once. */
async function countCommands(act: () => Promise<unknown>): Promise<number> {
  const read = async () => {
    const stats = await fleet.redis.info('commandstats')
    // Commands of scripts are counted by Redis as well; what a client sends is `evalsha` and the like.
    const sent = [...stats.matchAll(/cmdstat_(evalsha|eval|script\|load):calls=(\d+)/g)]
    return sent.reduce((sum, [, , calls]) => sum + Number(calls), 0)
  }
  const before = await read()
  await act()
  return (await read()) - before
}

describe('a job that is added at run time', () => {
  it('fires on every replica from its next slot on, and nothing of the past', async () => {
    await fleet.join('a', [])
    await fleet.join('b', [])
    fleet.clock.advance(25 * MINUTE)
    expect(await upsert(tenant('acme'))).toEqual({ job: 'acme', status: 'registered', generation: 1 })
    await fleet.advance(30 * MINUTE, 30_000)
    expect(await states('acme')).toEqual(['1230 enqueued', '1240 enqueued', '1250 enqueued'])
    expect(await outcome()).toBe('adds-up')
  })

  it('changes nothing when it is added again as it is, a hundred times', async () => {
    await fleet.join('a', [])
    await upsert(tenant('acme'))
    await fleet.advance(10 * MINUTE, 5_000)
    const before = await readJob(fleet.store, 'acme')
    for (let times = 0; times < 100; times++) expect((await upsert(tenant('acme'))).status).toBe('same')
    expect(await readJob(fleet.store, 'acme')).toEqual(before)
    expect((await jobHistory(fleet.store, 'acme')).events.length).toBe(1)
    // As a definition, and as the store has it.
    const made = defineJob(tenant('acme'))
    expect((await upsertJob(access, { job: made, operator: OPERATOR })).status).toBe('same')
    const stored = before?.settings as typeof made
    expect((await upsertJob(access, { job: stored, operator: OPERATOR })).status).toBe('same')
  })

  it('is edited from now on, there and back, and a retry count is no edit of its schedule', async () => {
    await fleet.join('a', [])
    await upsert(tenant('acme'))
    await fleet.advance(11 * MINUTE, 5_000)
    expect((await upsert(tenant('acme', '*/15 * * * *'))).status).toBe('edited')
    await fleet.advance(14 * MINUTE, 5_000)
    expect(await states('acme')).toEqual(['1210 enqueued', '1215 enqueued'])
    expect((await upsert(tenant('acme', '*/15 * * * *', { retry: { attempts: 7 } }))).status).toBe('changed')
    expect((await upsert(tenant('acme'))).status).toBe('edited')
    await fleet.advance(16 * MINUTE, 5_000)
    expect(await states('acme')).toEqual(['1210 enqueued', '1215 enqueued', '1230 enqueued', '1240 enqueued'])
    expect((await readJob(fleet.store, 'acme'))?.generation).toBe(3)
    expect(await outcome()).toBe('adds-up')
  })

  it('is checked by the rules of any definition, all faults at once, and not written where it is refused', async () => {
    const bad = {
      name: 'acme',
      schedule: { kind: 'cron', expression: '61 * * * *' },
      onCrash: 'maybe',
      timeout: '2 days',
    }
    const error = await upsert(bad as unknown as JobInput).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'CRONCE_JOB_INVALID' })
    expect((error as { faults: unknown[] }).faults.length).toBeGreaterThanOrEqual(3)
    await expect(upsert(tenant('acme', '* * * * *', { was: 'old' }))).rejects.toMatchObject({
      code: 'CRONCE_JOB_INVALID',
    })
    const settings = { ...defineJob(tenant('acme')), timeoutMs: -1 }
    await expect(upsertJob(access, { job: settings, operator: OPERATOR })).rejects.toMatchObject({
      code: 'CRONCE_JOB_INVALID',
    })
    expect(await readJob(fleet.store, 'acme')).toBeUndefined()
  })

  it('is never one of an image, which a deploy changes', async () => {
    await fleet.join('a', [defineJob(tenant('acme'))])
    await expect(upsert(tenant('acme', '0 * * * *'))).rejects.toMatchObject({ code: 'CRONCE_JOB_CARRIED' })
    await expect(removeJob(access, { job: 'acme', operator: OPERATOR })).rejects.toMatchObject({
      code: 'CRONCE_JOB_CARRIED',
    })
  })
})

describe('a job that is removed at run time', () => {
  it('fires no more, keeps its history, and is gone from the list after the catch-up window', async () => {
    await fleet.join('a', [])
    await upsert(tenant('acme'))
    await fleet.advance(20 * MINUTE, 5_000)
    expect(await removeJob(access, { job: 'acme', operator: OPERATOR, note: 'left us' })).toMatchObject({
      status: 'removed',
    })
    expect(await removeJob(access, { job: 'acme', operator: OPERATOR })).toMatchObject({ status: 'already' })
    await fleet.advance(30 * MINUTE, 30_000)
    expect(await states('acme')).toEqual(['1210 enqueued', '1220 enqueued'])
    expect(await listJobNames(fleet.store)).toEqual(['acme'])
    await fleet.advance(HOUR, 30_000)
    expect(await listJobNames(fleet.store)).toEqual([])
    expect((await jobHistory(fleet.store, 'acme')).events.at(-1)).toMatchObject({
      ...{ event: 'removed', by: 'kim', note: 'left us' },
    })
    expect(await outcome()).toBe('adds-up')
  })

  it('owes nothing that nobody had taken, and drops what waited', async () => {
    const replica = await fleet.join('a', [])
    await upsert(tenant('acme', '*/10 * * * *', { overlap: 'queue' }))
    await fleet.advance(20 * MINUTE, 5_000)
    expect(await states('acme')).toEqual(['1210 enqueued', '1220 due'])
    await fleet.leave(replica)
    fleet.clock.advance(35 * MINUTE)
    await removeJob(access, { job: 'acme', operator: OPERATOR })
    await workAll(fleet.store, 'acme')
    expect(await states('acme')).toEqual(['1210 succeeded', '1220 skipped'])
    expect((await readJob(fleet.store, 'acme'))?.goneAt).toBe(NOON + 30 * MINUTE - 1)
    fleet.clock.advance(10 * MINUTE)
    expect(await outcome()).toBe('adds-up')
  })

  it('and added again is new: what lay between is not caught up', async () => {
    await fleet.join('a', [])
    await upsert(tenant('acme'))
    await fleet.advance(15 * MINUTE, 5_000)
    await removeJob(access, { job: 'acme', operator: OPERATOR })
    await fleet.advance(20 * MINUTE, 5_000)
    expect(await upsert(tenant('acme'))).toMatchObject({ status: 'registered', generation: 2 })
    await fleet.advance(10 * MINUTE, 5_000)
    expect(await states('acme')).toEqual(['1210 enqueued', '1240 enqueued'])
    const { generations } = await jobHistory(fleet.store, 'acme')
    expect(generations.map(({ sinceAt, untilAt }) => [sinceAt, untilAt])).toEqual([
      [NOON, NOON + 15 * MINUTE],
      [NOON + 35 * MINUTE, undefined],
    ])
    expect(await outcome()).toBe('adds-up')
  })
})

describe('a bad stored row', () => {
  it('is reported and passed over, and the jobs around it fire', async () => {
    for (const name of ['acme', 'broken', 'umbrella']) await upsert(tenant(name))
    await fleet.redis.hset(`${jobKey(fleet.store.service, 'broken')}:job`, 'settings', '{"name":"broken"')
    const replica = await fleet.join('a', [])
    const passed: string[] = []
    replica.events.on('job.passed-over', ({ job }) => passed.push(job))
    await upsert(tenant('late'))
    await fleet.redis.hset(`${jobKey(fleet.store.service, 'late')}:job`, 'settings', 'null')
    await fleet.advance(11 * MINUTE, 5_000)
    expect(await states('acme')).toEqual(['1210 enqueued'])
    expect(await states('umbrella')).toEqual(['1210 enqueued'])
    expect(await states('broken')).toEqual([])
    expect(passed).toContain('late')
    expect((await jobHistory(fleet.store, 'broken')).fault).not.toBe('')
    // A sound upsert mends it.
    await upsert(tenant('broken'))
    await fleet.advance(10 * MINUTE, 5_000)
    expect((await states('broken')).at(-1)).toBe('1220 enqueued')
  })
})

describe('ten thousand jobs', () => {
  const MANY = 10_000

  it('are added in bounded time, and a tick costs what is due, not what there is', async () => {
    const replica = await fleet.join('a', [])
    const few = ['d-1', 'd-2', 'd-3', 'd-4', 'd-5']
    for (const name of few) await upsert({ ...tenant(name), schedule: every('1h') })
    await fleet.sweep()
    fleet.clock.set(NOON + HOUR)
    const alone = await countCommands(() => fleet.tick())
    // Yearly: they are there, and not due.
    const costs: number[] = []
    for (let start = 0; start < MANY; start += 1_000) {
      const names = Array.from({ length: 1_000 }, (_, index) => `t-${start + index}`)
      costs.push(await countCommands(() => Promise.all(names.map((name) => upsert(tenant(name, '0 3 1 1 *'))))))
    }
    // The last thousand cost what the first did: five scripts each, two of them for the journal.
    expect(new Set(costs)).toEqual(new Set([5_000]))
    for (let sweeps = 0; sweeps < 12 && replica.health().jobs < MANY; sweeps++) {
      fleet.clock.advance(10_000)
      await fleet.sweep()
    }
    expect(replica.health().jobs).toBe(MANY + few.length)
    expect(await countCommands(() => fleet.tick())).toBe(0)
    fleet.clock.set(NOON + 2 * HOUR)
    const among = await countCommands(() => fleet.tick())
    expect(among).toBeLessThanOrEqual(alone)
    expect((await listSlots(fleet.store, 'd-5', { limit: 10 })).map(({ state }) => state)).toEqual([
      'enqueued',
      'enqueued',
    ])
    // A sweep looks at what asks for it: idle jobs do not.
    fleet.clock.advance(60_000)
    await fleet.sweep()
    fleet.clock.advance(10_000)
    expect(await countCommands(() => fleet.sweep())).toBeLessThanOrEqual(30)
  }, 120_000)
})
