import { cron, defineJob, formatSlotId, isCronceError, type JobDefinition } from '@cronce/core'
import {
  auditService,
  listActions,
  pauseJob,
  resumeJob,
  runNow,
  runSlot,
  type ServiceAccess,
  triggerSlot,
} from '@cronce/operations'
import { listGaps, readSlotEvents } from '@cronce/store'
import type { Trigger } from '@cronce/trigger'
import { describe, expect, it } from 'vitest'
import { OPERATOR, workAll } from '../support/by-hand.ts'
import { type Fleet, NOON } from '../support/fleet.ts'
import { standOnGround } from '../support/operations-ground.ts'
import { startRun } from '../support/play-worker.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

let fleet: Fleet
let access: ServiceAccess
standOnGround('slots', (ground) => {
  ;({ fleet, access } = ground)
})

function hourly(expression = '0 * * * *', extra: object = {}): JobDefinition {
  const catchUp = { mode: 'skip' as const, within: '1h', atMost: 1 }
  return defineJob({
    name: 'job',
    schedule: cron(expression),
    onCrash: 'complete',
    overlap: 'allow',
    catchUp,
    ...extra,
  })
}

/** Registers the job, lets everybody be away for five slots, and cuts them: 13:00 to 17:00 did not run. */
async function missFive(job = hourly()): Promise<Trigger> {
  const replica = await fleet.join('a', [job])
  fleet.clock.advance(5 * HOUR + 30 * MINUTE)
  await fleet.tick()
  await fleet.sweep()
  return replica
}

const at = (hours: number) => formatSlotId(NOON + hours * HOUR)
const ask = (slot: string, extra: object = {}) => runSlot(access, { job: 'job', slot, operator: OPERATOR, ...extra })
const codeOf = async (asked: Promise<unknown>) => {
  const error = await asked.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  return isCronceError(error) ? error.code : error
}
const gaps = async () => {
  const found = await listGaps(fleet.store, 'job', { afterAt: 0, limit: 100 })
  return found.map(({ fromAt, toAt, count }) => [(fromAt - NOON) / HOUR, (toAt - NOON) / HOUR, count])
}
const states = async () => (await fleet.slots('job')).map(({ id, state }) => `${id.slice(9)} ${state}`)
const outcome = async () => (await auditService(fleet.store, { fromAt: NOON - HOUR, toAt: fleet.clock.now() })).outcome

describe('a named slot that did not run', () => {
  it('runs under its own identity, and the gap that held it covers what is left, to the last slot', async () => {
    await missFive()
    const whole = (await listGaps(fleet.store, 'job', { afterAt: 0, limit: 10 })).reduce(
      (sum, gap) => sum + gap.count,
      0,
    )
    expect(await ask(at(2), { why: 'incident 4711' })).toMatchObject({ slot: `job@${at(2)}`, status: 'enqueued' })
    const split = await listGaps(fleet.store, 'job', { afterAt: 0, limit: 10 })
    expect(split.reduce((sum, gap) => sum + gap.count, 0)).toBe(whole - 1)
    expect(split.some(({ fromAt, toAt }) => NOON + 2 * HOUR > fromAt && NOON + 2 * HOUR <= toAt)).toBe(false)
    await workAll(fleet.store, 'job')
    expect(await states()).toEqual(['140000Z succeeded'])
    const events = await readSlotEvents(fleet.store, 'job', at(2))
    expect(events.find(({ event }) => event === 'claimed')?.detail).toMatchObject({ by: 'kim', why: 'incident 4711' })
    expect(await outcome()).toBe('adds-up')
  })

  it('runs once, however many ask for it at once', async () => {
    await missFive()
    const asked = await Promise.all(Array.from({ length: 5 }, () => codeOf(ask(at(3)))))
    expect(asked.toSorted()).toEqual([...Array.from({ length: 4 }, () => 'CRONCE_SLOT_BUSY'), undefined])
    await workAll(fleet.store, 'job')
    const [slot] = await fleet.slots('job')
    expect(slot).toMatchObject({ state: 'succeeded', claims: 1, starts: 1, version: 1, cause: 'manual' })
    expect(await codeOf(ask(at(3)))).toBe('CRONCE_SLOT_DONE')
  })

  it('leaves the gap sound when neighbours are taken in any order, at once', async () => {
    await missFive()
    await Promise.all([4, 1, 3, 2].map((hours) => ask(at(hours))))
    await workAll(fleet.store, 'job')
    expect(await states()).toEqual(['130000Z', '140000Z', '150000Z', '160000Z'].map((id) => `${id} succeeded`))
    expect((await gaps()).map(([, , count]) => count)).toEqual([1])
    expect(await outcome()).toBe('adds-up')
  })
})

describe('a named slot is refused', () => {
  it('when it is done, on its way, not due yet, or none of the schedule that owned it', async () => {
    await missFive()
    await ask(at(2))
    expect(await codeOf(ask(at(2)))).toBe('CRONCE_SLOT_BUSY')
    await startRun(fleet.store, 'job')
    expect(await codeOf(ask(at(2), { ended: 'walk-again' }))).toBe('CRONCE_SLOT_BUSY')
    expect(await codeOf(ask(at(6)))).toBe('CRONCE_SLOT_EARLY')
    expect(await codeOf(ask(at(1.5)))).toBe('CRONCE_SLOT_FOREIGN')
    expect(await codeOf(ask(at(-1)))).toBe('CRONCE_SLOT_FOREIGN')
    expect(await codeOf(ask(`${at(1)}+manual-1`))).toBe('CRONCE_SLOT_FOREIGN')
    expect(await codeOf(ask(`other@${at(1)}`))).toBe('CRONCE_SLOT_FOREIGN')
    expect(await codeOf(ask('yesterday'))).toBe('CRONCE_INPUT_INVALID')
    expect(await states()).toEqual(['140000Z running'])
  })

  it('while the job is paused, for nothing would start', async () => {
    await missFive()
    await pauseJob(access, { job: 'job', operator: { name: 'ann' }, note: 'migration' })
    await expect(ask(at(2))).rejects.toMatchObject({
      code: 'CRONCE_JOB_HELD',
      message: expect.stringContaining('paused by ann: migration'),
    })
    expect(await states()).toEqual([])
  })

  it('when its history is folded, forced or not', async () => {
    await missFive()
    await ask(at(2))
    await workAll(fleet.store, 'job')
    fleet.clock.advance(31 * 24 * HOUR)
    await fleet.tick()
    await fleet.sweep()
    expect((await fleet.slots('job')).some(({ id }) => id === at(2))).toBe(false)
    expect(await codeOf(ask(at(2)))).toBe('CRONCE_SLOT_DONE')
    expect(await codeOf(ask(at(2), { ended: 'walk-again' }))).toBe('CRONCE_FOLD_MISSING')
  })
})

describe('a slot that is asked for from outside', () => {
  const trigger = (slot: string) => triggerSlot(access, { job: 'job', slot, operator: OPERATOR })

  it('is left alone where overlap skipped it: nothing runs beside the run that it was skipped for', async () => {
    await fleet.join('a', [hourly('0 * * * *', { overlap: 'skip' })])
    await fleet.advance(HOUR, 30_000)
    await startRun(fleet.store, 'job', { holdChunk: true })
    await fleet.advance(HOUR, 30_000)
    const before = await states()
    expect(before).toEqual(['130000Z running', '140000Z skipped'])
    const reason = `overlap: ${at(1)} has not ended`
    const left = { slot: `job@${at(2)}`, outcome: 'left', state: 'skipped', reason }
    expect([await trigger(at(2)), await trigger(at(2))]).toEqual([left, left])
    expect(await states()).toEqual(before)
    expect((await listActions(fleet.store, { job: 'job' })).rows).toEqual([])
    // Whoever knows of it may run it.
    expect(await ask(at(2))).toMatchObject({ status: 'enqueued' })
  })

  it('is left alone where it expired', async () => {
    await fleet.join('a', [hourly('0 * * * *', { expire: '10m' })])
    await fleet.advance(HOUR + 20 * MINUTE, 30_000)
    expect(await states()).toEqual(['130000Z skipped'])
    expect(await trigger(at(1))).toMatchObject({ outcome: 'left', reason: 'expired: not started by its use-by' })
    expect(await states()).toEqual(['130000Z skipped'])
  })

  it('is left alone where a pause skipped it, and runs where it was missed', async () => {
    await missFive()
    await pauseJob(access, { job: 'job', operator: { name: 'ann' }, note: 'migration' })
    await fleet.advance(2 * HOUR, 5 * MINUTE)
    await resumeJob(access, { job: 'job', operator: OPERATOR })
    await fleet.advance(30_000, 5_000)
    const before = await gaps()
    expect(await trigger(at(7))).toMatchObject({
      outcome: 'left',
      state: 'skipped',
      reason: 'paused by ann: migration',
    })
    expect([await gaps(), await states()]).toEqual([before, []])
    expect(await trigger(at(2))).toMatchObject({ outcome: 'accepted', state: 'enqueued' })
    expect(await states()).toEqual(['140000Z enqueued'])
  })
})

describe('after an edit', () => {
  it('a slot is one of the schedule that was in force then, and of no other', async () => {
    const old = await missFive()
    await fleet.join('b', [hourly('30 * * * *')])
    await fleet.leave(old)
    fleet.clock.advance(3 * HOUR)
    await fleet.tick()
    await fleet.sweep()
    expect(await codeOf(ask(formatSlotId(NOON + 2.5 * HOUR)))).toBe('CRONCE_SLOT_FOREIGN')
    expect(await ask(at(2))).toMatchObject({ status: 'enqueued' })
    expect(await ask(formatSlotId(NOON + 6.5 * HOUR))).toMatchObject({ status: 'enqueued' })
    expect(await codeOf(ask(at(7)))).toBe('CRONCE_SLOT_FOREIGN')
    expect(await outcome()).toBe('adds-up')
  })
})

describe('C44: a run by hand', () => {
  it('has an identity of its own and never takes the next slot', async () => {
    await fleet.join('a', [hourly('30 15 * * *')])
    await runNow(access, { job: 'job', operator: OPERATOR })
    await workAll(fleet.store, 'job')
    await fleet.advance(3.5 * HOUR, 5 * MINUTE)
    await workAll(fleet.store, 'job')
    await fleet.advance(30 * MINUTE, 5 * MINUTE)
    await runNow(access, { job: 'job', operator: OPERATOR })
    await workAll(fleet.store, 'job')
    expect(await states()).toEqual(['120000Z+manual-1 succeeded', '153000Z succeeded', '160000Z+manual-1 succeeded'])
    expect(await codeOf(ask(formatSlotId(NOON + 3.5 * HOUR)))).toBe('CRONCE_SLOT_DONE')
  })

  it('whose process died before the queue had it is put there by a replica', async () => {
    await missFive()
    const dying = { ...access.enqueuer, add: () => Promise.reject(new Error('Connection is closed.')) }
    expect(
      await runSlot({ ...access, enqueuer: dying }, { job: 'job', slot: at(2), operator: OPERATOR }),
    ).toMatchObject({
      status: 'claimed',
    })
    await fleet.advance(MINUTE, 5_000)
    expect(await states()).toContain('140000Z enqueued')
  })
})
