import { every } from '@cronce/core'
import { listDays, listGaps, readJob } from '@cronce/store'
import { describe, expect, it } from 'vitest'
import { type Fleet } from '../support/fleet.ts'
import { standOnFleet } from '../support/fleet-ground.ts'
import { audited, idAt, keyOf, MINUTE, minutely, SECOND, slotAt } from './protocol-ground.ts'

let fleet: Fleet
standOnFleet('retention', (made) => {
  fleet = made
})

const gaps = () => listGaps(fleet.store, 'job', { afterAt: 0, limit: 1_000 })

/** Lets a sweep look at the job a minute later, without a slot that comes due meanwhile. */
async function look(minute: number): Promise<void> {
  fleet.clock.set(slotAt(minute) + 50 * SECOND)
  await fleet.sweep()
}

describe('gaps, sums and definitions are bounded (T12)', () => {
  it('folds the oldest gaps into the sums of their days where there are more than slots are kept', async () => {
    await fleet.join('a', [minutely()], { history: { slots: 20 } })
    const pipeline = fleet.redis.pipeline()
    // A gap of two minutes, and a run, over and over, past midnight.
    for (let minute = 1; minute <= 1_200; minute += 3) {
      const span = { from: slotAt(minute) - 1, to: slotAt(minute + 1), count: 2, state: 'missed', reason: `${minute}` }
      pipeline.zadd(keyOf(fleet.store, 'gaps'), span.to, JSON.stringify({ ...span, at: 1, by: 'a' }))
      const record = { at: slotAt(minute + 2), effective: slotAt(minute + 2), state: 'succeeded', cause: 'on-time' }
      pipeline.hset(keyOf(fleet.store, `slot:${idAt(minute + 2)}`), record)
      pipeline.zadd(keyOf(fleet.store, 'slots'), slotAt(minute + 2), idAt(minute + 2))
    }
    pipeline.hset(keyOf(fleet.store, 'job'), 'watermark', slotAt(1_200))
    await pipeline.exec()
    for (let minute = 1_200; minute < 1_206; minute++) await look(minute)
    expect((await gaps()).length).toBeLessThanOrEqual(20)
    expect((await fleet.slots('job')).length).toBeLessThanOrEqual(30)
    const [expected, ...rest] = await audited(fleet)
    expect(expected).toBeGreaterThanOrEqual(1_200)
    expect(rest).toEqual([expected, 0, 0, 0])
    const days = await listDays(fleet.store, 'job', { from: '2026-06-01', to: '2026-06-02' })
    expect(days.map(({ day }) => day)).toEqual(['2026-06-01', '2026-06-02'])
    // 719 minutes are left of the first day.
    expect(days[0]?.slots).toEqual({ missed: 480, succeeded: 239 })
  })

  it('audits nothing that a service which keeps less has dropped', async () => {
    const DAY = 24 * 60
    await fleet.join('a', [minutely()], { history: { days: 2 } })
    const pipeline = fleet.redis.pipeline()
    for (const [day, count] of Object.entries({ 1: 719, 2: DAY, 3: DAY, 4: DAY, 5: 721 })) {
      pipeline.hset(keyOf(fleet.store, `day:2026-06-0${day}`), 'succeeded', count)
      pipeline.zadd(keyOf(fleet.store, 'days'), 20260600 + Number(day), `2026-06-0${day}`)
    }
    pipeline.hset(keyOf(fleet.store, 'job'), 'watermark', slotAt(4 * DAY))
    await pipeline.exec()
    fleet.clock.set(slotAt(4 * DAY))
    expect(await audited(fleet)).toEqual([4 * DAY, 4 * DAY, 0, 0, 0])
    await look(4 * DAY)
    expect((await listDays(fleet.store, 'job', { from: '2026-01-01', to: '2027-01-01' })).length).toBe(3)
    const [expected, ...rest] = await audited(fleet)
    expect(expected).toBe(2 * DAY + 721)
    expect(rest).toEqual([expected, 0, 0, 0])
  })

  it('forgets gaps, generations and images that are older than the sums, and adds up over what is left', async () => {
    const DAY = 24 * 60 * MINUTE
    const schedules = ['1h', '2h', '3h', '4h'] as const
    const settings = (index: number) =>
      minutely({ schedule: every(schedules[index] ?? '1h'), catchUp: { mode: 'skip', within: '1h', atMost: 1 } })
    for (let index = 0; index < schedules.length; index++) {
      const replica = await fleet.join(`r${index}`, [settings(index)], { history: { days: 10 } })
      await fleet.advance(2 * MINUTE, 10 * SECOND)
      fleet.clock.advance(3 * DAY)
      await fleet.advance(2 * MINUTE, 10 * SECOND)
      await fleet.leave(replica)
    }
    const image = async () => (await readJob(fleet.store, 'job'))?.image
    const card = async (key: string) => fleet.redis.zcard(keyOf(fleet.store, key))
    await fleet.join('last', [settings(3)], { history: { days: 10 } })
    expect(await card('generations')).toBe(4)
    const inForce = await image()
    expect(await audited(fleet).then((sums) => sums.slice(2))).toEqual([0, 0, 0])
    fleet.clock.advance(5 * DAY)
    await fleet.advance(10 * MINUTE, 30 * SECOND)
    // Two of them ended before the oldest day.
    expect(await card('generations')).toBe(2)
    expect(await card('images')).toBe(2)
    const oldest = Date.parse(new Date(fleet.clock.now() - 10 * DAY).toISOString().slice(0, 10))
    for (const gap of await gaps()) expect(gap.toAt).toBeGreaterThanOrEqual(oldest)
    const [expected, ...rest] = await audited(fleet)
    expect(expected).toBeGreaterThan(50)
    expect(rest).toEqual([expected, 0, 0, 0])
    fleet.clock.advance(400 * DAY)
    await fleet.advance(10 * MINUTE, 30 * SECOND)
    expect([await card('generations'), await card('images'), await image()]).toEqual([1, 1, inForce])
    expect((await fleet.redis.keys(keyOf(fleet.store, 'image:*').replace('{', '\\{'))).length).toBe(1)
    expect((await gaps()).length).toBeLessThanOrEqual(2)
    const [, ...later] = await audited(fleet)
    expect(later.slice(1)).toEqual([0, 0, 0])
  })
})
