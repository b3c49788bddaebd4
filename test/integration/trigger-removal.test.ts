import { cron, every } from '@cronce/core'
import { auditService, removeJob, type ServiceAccess, upsertJob } from '@cronce/operations'
import { DEAD_LETTER_QUEUE, showDeadLetters } from '@cronce/queue'
import { forgetJob, listForgottenJobs, listGaps, listJobNames, pauseJob, readJob } from '@cronce/store'
import { describe, expect, it } from 'vitest'
import { OPERATOR } from '../support/by-hand.ts'
import { type Fleet, NOON } from '../support/fleet.ts'
import { standOnGround } from '../support/operations-ground.ts'
import {
  claim,
  died,
  hold,
  letterOf,
  MINUTE,
  minutely,
  plan,
  runAt,
  SECOND,
  slotAt,
  statesOf,
  tickMinutes,
  verdictsOf,
} from './protocol-ground.ts'

const HOUR = 60 * MINUTE

let fleet: Fleet
let access: ServiceAccess
standOnGround('removal', (ground) => {
  ;({ fleet, access } = ground)
})

const { entity: _entity, ...dynamic } = minutely({ catchUp: { mode: 'late', within: '1h', atMost: 2 } })
const outcome = async () => (await auditService(fleet.store, { fromAt: NOON, toAt: fleet.clock.now() })).outcome

/** A replica takes the first slot and is never heard of again. */
async function claimAndDie(): Promise<void> {
  await upsertJob(access, { job: dynamic, operator: OPERATOR })
  fleet.clock.set(slotAt(1))
  expect(verdictsOf(await claim(fleet.store, [1]))).toEqual(['claimed'])
}

describe('a slot that was claimed by a replica that died', () => {
  it('goes on when its lease has ended, though the job was removed meanwhile', async () => {
    await fleet.join('a', [])
    await claimAndDie()
    await removeJob(access, { job: 'job', operator: OPERATOR })
    await fleet.advance(5 * SECOND)
    expect(await statesOf(fleet)).toEqual(['1 claimed'])
    await fleet.advance(MINUTE)
    expect(await statesOf(fleet)).toEqual(['1 enqueued'])
    await fleet.advance(HOUR + MINUTE, 30 * SECOND)
    expect(await listJobNames(fleet.store)).toEqual([])
    expect(await outcome()).toBe('adds-up')
  })

  it('goes on when the catch-up window has passed, though the job was paused and removed', async () => {
    await fleet.join('a', [])
    await claimAndDie()
    await pauseJob(fleet.store, 'job', { by: 'ann', note: '', missed: 'catch-up' })
    await fleet.advance(5 * MINUTE, 5 * SECOND)
    await removeJob(access, { job: 'job', operator: OPERATOR })
    await fleet.advance(30 * MINUTE, 30 * SECOND)
    expect(await statesOf(fleet)).toEqual(['1 claimed'])
    await fleet.advance(HOUR, 30 * SECOND)
    expect(await statesOf(fleet)).toEqual(['1 enqueued'])
    expect(await listJobNames(fleet.store)).toEqual([])
    expect(await outcome()).toBe('adds-up')
  })
})

describe('a job that no image carries any more, and that is paused', () => {
  it('is forgotten after the catch-up window, and what the pause held back is one gap', async () => {
    const other = minutely({ name: 'other', schedule: every('1d') })
    const job = minutely({ catchUp: { mode: 'late', within: '20m', atMost: 2 } })
    const both = await fleet.join('a', [job, other])
    await pauseJob(fleet.store, 'job', { by: 'ann', note: 'until further notice', missed: 'catch-up' })
    await fleet.join('b', [other])
    await fleet.leave(both)
    await fleet.advance(5 * MINUTE, 5 * SECOND)
    const goneAt = (await readJob(fleet.store, 'job'))?.goneAt ?? 0
    await fleet.advance(25 * MINUTE, 30 * SECOND)
    expect(await listJobNames(fleet.store)).toEqual(['other'])
    const gaps = await listGaps(fleet.store, 'job', { afterAt: 0, limit: 10 })
    const owed = Math.floor((goneAt - NOON) / MINUTE)
    expect(gaps.map(({ count, state, reason }) => [count, state, reason])).toEqual([
      [owed, 'skipped', 'paused by ann: until further notice'],
    ])
    expect(await statesOf(fleet)).toEqual([])
  })
})

const DAY = 24 * HOUR
const keysOf = (job: string) => fleet.redis.keys(`cronce:{${fleet.store.service}:job:${job}}*`)
const add = (name: string, extra: object = {}) =>
  upsertJob(access, { job: { ...dynamic, name, ...extra }, operator: OPERATOR })
const remove = (job: string) => removeJob(access, { job, operator: OPERATOR })
/** The fleet's own look, some heartbeats later. */
async function looks(count: number): Promise<void> {
  for (let look = 0; look < count; look++) {
    fleet.clock.advance(16 * SECOND)
    await fleet.sweep()
  }
}

describe('a job whose removal is final', () => {
  it('leaves no key when history no longer reaches back to it, nor on the dead-letter queue', async () => {
    await fleet.join('a', [], { history: { days: 30 } })
    await add('job')
    await fleet.sweep()
    await tickMinutes(fleet, 4)
    // A run with an open chunk, and one with dead letters, one of them shown.
    await plan(fleet.store, runAt(1), { pages: [['k']], complete: false })
    await plan(fleet.store, runAt(2), { pages: [['a', 'b'], ['c']] })
    const dead = ['a', 'b'].map((entity, index) => died(runAt(2), index, { entity }))
    await (await hold(fleet.store, runAt(2), 0)).settle({ failures: dead })
    const letters = ['a', 'b'].map((entity) => letterOf(runAt(2), entity))
    await showDeadLetters({ ...access, job: 'job', ids: letters })
    expect((await access.enqueuer.depth(DEAD_LETTER_QUEUE)).waiting).toBe(2)
    await pauseJob(fleet.store, 'job', { by: 'ann', note: '', missed: 'skip' })
    await remove('job')
    await fleet.advance(2 * HOUR, MINUTE)
    expect(await listForgottenJobs(fleet.store)).toEqual(['job'])
    fleet.clock.advance(29 * DAY)
    await looks(3)
    expect((await keysOf('job')).length).toBeGreaterThan(10)
    expect((await readJob(fleet.store, 'job'))?.goneAt).toBeGreaterThan(0)
    // What is under way is waited for, but not for ever.
    fleet.clock.advance(2 * DAY)
    await looks(3)
    expect((await keysOf('job')).length).toBeGreaterThan(10)
    fleet.clock.advance(31 * DAY)
    await looks(3)
    expect(await keysOf('job')).toEqual([])
    expect(await listForgottenJobs(fleet.store)).toEqual([])
    expect((await access.enqueuer.depth(DEAD_LETTER_QUEUE)).waiting).toBe(0)
  })

  it('is not touched when it is registered again, whenever that is', async () => {
    await fleet.join('a', [], { history: { days: 30 } })
    await add('job')
    await fleet.sweep()
    await tickMinutes(fleet, 3)
    await remove('job')
    await fleet.advance(2 * HOUR, MINUTE)
    expect(await listForgottenJobs(fleet.store)).toEqual(['job'])
    fleet.clock.advance(DAY)
    await add('job')
    await looks(2)
    fleet.clock.advance(30 * DAY)
    await looks(3)
    expect(await listForgottenJobs(fleet.store)).toEqual([])
    expect(await readJob(fleet.store, 'job')).toMatchObject({ generation: 2, goneAt: undefined })
    expect(await listJobNames(fleet.store)).toEqual(['job'])
    expect(await outcome()).toBe('adds-up')
  })

  it('is listed again where it was registered while a replica was about to bury it', async () => {
    await fleet.join('a', [])
    await add('job')
    await looks(1)
    await forgetJob(fleet.store, 'job')
    expect(await listJobNames(fleet.store)).toEqual([])
    await looks(2)
    expect(await listJobNames(fleet.store)).toEqual(['job'])
    expect(await listForgottenJobs(fleet.store)).toEqual([])
    await fleet.join('b', [])
    await fleet.advance(2 * MINUTE, 10 * SECOND)
    expect((await statesOf(fleet)).length).toBeGreaterThan(0)
  })

  it('is no job again because a replica remembers it when Redis has lost everything', async () => {
    await fleet.join('a', [])
    await add('job')
    await add('stays')
    await fleet.sweep()
    await tickMinutes(fleet, 2)
    await remove('job')
    await fleet.advance(MINUTE, 10 * SECOND)
    const keys = await fleet.redis.keys(`cronce:{${fleet.store.service}*`)
    await fleet.redis.del(...keys)
    await fleet.advance(3 * MINUTE, 10 * SECOND)
    expect(await listJobNames(fleet.store)).toEqual(['stays'])
    expect(await keysOf('job')).toEqual([])
  })

  it('leaves no key among ten thousand that were added and removed, in looks of bounded work', {
    timeout: 240_000,
  }, async () => {
    const MANY = 10_000
    const replica = await fleet.join('a', [])
    const yearly = { schedule: cron('0 3 1 1 *') }
    for (let start = 0; start < MANY; start += 1_000) {
      const names = Array.from({ length: 1_000 }, (_, index) => `t-${start + index}`)
      await Promise.all(names.map((name) => add(name, yearly)))
      await Promise.all(names.map(remove))
    }
    for (let look = 0; look < 100 && replica.health().jobs < MANY; look++) await looks(1)
    fleet.clock.advance(2 * HOUR)
    for (let look = 0; look < 100 && replica.health().jobs > 0; look++) await looks(1)
    expect(await listJobNames(fleet.store)).toEqual([])
    for (let look = 0; look < 25; look++) await looks(1)
    expect((await listForgottenJobs(fleet.store)).length).toBe(MANY)
    expect((await keysOf('t-1')).length).toBeGreaterThan(3)
    fleet.clock.advance(400 * DAY)
    await looks(1)
    const left = (await listForgottenJobs(fleet.store)).length
    expect(left).toBeLessThan(MANY)
    expect(left).toBeGreaterThanOrEqual(MANY - 1_000)
    for (let look = 0; look < 100 && (await listForgottenJobs(fleet.store)).length > 0; look++) await looks(1)
    expect(await fleet.redis.keys(`cronce:{${fleet.store.service}:job:*`)).toEqual([])
    for (const set of ['jobs', 'watch', 'open', 'tombstones'])
      expect([
        set,
        (await fleet.redis.zrange(`cronce:{${fleet.store.service}}:${set}`, '0', '-1')).filter((job) => job !== ''),
      ]).toEqual([set, []])
  })
})
