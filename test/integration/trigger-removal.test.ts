import { every } from '@cronce/core'
import { auditService, removeJob, type ServiceAccess, upsertJob } from '@cronce/operations'
import { listGaps, listJobNames, pauseJob, readJob } from '@cronce/store'
import { describe, expect, it } from 'vitest'
import { OPERATOR } from '../support/by-hand.ts'
import { type Fleet, NOON } from '../support/fleet.ts'
import { standOnGround } from '../support/operations-ground.ts'
import { claim, MINUTE, minutely, SECOND, slotAt, statesOf, verdictsOf } from './protocol-ground.ts'

const HOUR = 60 * MINUTE

let fleet: Fleet
let access: ServiceAccess
standOnGround('removal', (ground) => {
  ;({ fleet, access } = ground)
})

const { entity: _, ...dynamic } = minutely({ catchUp: { mode: 'late', within: '1h', atMost: 2 } })
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
