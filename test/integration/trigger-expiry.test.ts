import { every } from '@cronce/core'
import { readSlotEvents } from '@cronce/store'
import { describe, expect, it } from 'vitest'
import { type Fleet } from '../support/fleet.ts'
import { standOnFleet } from '../support/fleet-ground.ts'
import { startRun } from '../support/play-worker.ts'
import { audited, idAt, MINUTE, minutely, SECOND, slotAt, statesOf } from './protocol-ground.ts'

let fleet: Fleet
standOnFleet('expiry', (made) => {
  fleet = made
})

const expiring = (extra: object = {}) =>
  minutely({ tolerance: { start: '1m', finish: '10m' }, expire: '3m', overlap: 'skip', ...extra })
const started = async (minute: number) =>
  (await readSlotEvents(fleet.store, 'job', idAt(minute))).some(({ event }) => event === 'running')

describe('a use-by counts from the slot, whoever admitted it', () => {
  it('drops what an outage left longer ago than that, and runs what is still in time', async () => {
    const catchUp = { mode: 'late', within: '12h', atMost: 10 }
    await fleet.leave(await fleet.join('a', [expiring({ catchUp })]))
    fleet.clock.set(slotAt(8) + 30 * SECOND)
    await fleet.join('b', [expiring({ catchUp })])
    await fleet.advance(30 * SECOND, SECOND)
    const states = await statesOf(fleet)
    expect(states.slice(0, 6)).toEqual(
      ['1', '2', '3', '4', '5', '6'].map((minute) => `${minute} ${minute === '6' ? 'enqueued' : 'skipped'}`),
    )
    for (const { reason, state } of await fleet.slots('job'))
      if (state === 'skipped' && reason?.startsWith('overlap') !== true) expect(reason).toContain('expired')
    const [expected, ...rest] = await audited(fleet)
    expect(rest).toEqual([expected, 0, 0, 0])
  })

  it('drops a run that catch-up enqueued and nobody started in time', async () => {
    const catchUp = { mode: 'latest', within: '12h', atMost: 1 }
    await fleet.leave(await fleet.join('a', [expiring({ catchUp })]))
    fleet.clock.set(slotAt(8) + 45 * SECOND)
    await fleet.join('b', [expiring({ catchUp })])
    await fleet.tick()
    expect(await statesOf(fleet)).toEqual(['8 enqueued'])
    fleet.clock.set(slotAt(11) + SECOND)
    await fleet.advance(MINUTE, 10 * SECOND)
    expect((await statesOf(fleet))[0]).toBe('8 skipped')
    expect(await started(8)).toBe(false)
  })

  it('drops what an edit left due and the run before it held up for too long', async () => {
    await fleet.join('a', [expiring({ overlap: 'queue' })])
    fleet.clock.set(slotAt(1))
    await fleet.tick()
    await startRun(fleet.store, 'job')
    fleet.clock.set(slotAt(2) - SECOND)
    await fleet.sweep()
    fleet.clock.set(slotAt(2) + SECOND)
    // The edit comes before anybody has tried the slot: the closing script leaves it due.
    await fleet.join('b', [expiring({ overlap: 'queue', schedule: every('2h') })])
    expect(await statesOf(fleet)).toEqual(['1 running', '2 due'])
    await fleet.advance(2 * MINUTE, 10 * SECOND)
    expect(await statesOf(fleet)).toEqual(['1 running', '2 due'])
    await fleet.advance(2 * MINUTE, 10 * SECOND)
    expect(await statesOf(fleet)).toEqual(['1 running', '2 skipped'])
    expect((await fleet.slots('job'))[1]?.reason).toBe('expired: not started by its use-by')
  })
})
