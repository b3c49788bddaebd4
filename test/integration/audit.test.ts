import { cron, defineJob, every, formatSlotId, type JobDefinition } from '@cronce/core'
import { type Audit, auditService } from '@cronce/operations'
import { claimManual, DEFAULT_HISTORY, foldHistory, jobKey, pauseJob, readJob, resumeJob } from '@cronce/store'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createFleet, type Fleet, NOON } from '../support/fleet.ts'
import { type RedisServer, startRedis } from '../support/index.ts'
import { endRun, startRun } from '../support/play-worker.ts'
import { cronceHere } from './cli-run.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

let redis: RedisServer
let fleet: Fleet
let services = 0

beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())
beforeEach(() => {
  services += 1
  fleet = createFleet({ url: redis.url, service: `audit-${services}` })
})
afterEach(() => fleet.close())

function minutely(extra: object = {}): JobDefinition {
  const catchUp = { mode: 'late' as const, within: '30m', atMost: 1 }
  return defineJob({
    name: 'job',
    schedule: cron('* * * * *'),
    onCrash: 'complete',
    overlap: 'allow',
    catchUp,
    ...extra,
  })
}

const other = defineJob({ name: 'other', schedule: cron('0 0 1 1 *'), onCrash: 'skip' })

/** Expected, recorded, missing, double, unexpected: of the slots from noon on. */
async function sums(toAt = fleet.clock.now() + 1): Promise<number[]> {
  return numbers(await auditService(fleet.store, { fromAt: NOON, toAt }))
}

function numbers({ expected, recorded, missing, double, unexpected }: Audit): number[] {
  return [expected, recorded, missing, double, unexpected]
}

const key = (suffix: string) => `${jobKey(fleet.store.service, 'job')}:${suffix}`

describe('nothing unrecorded: an audit adds up', () => {
  it('over runs, an outage of an hour, and a pause', async () => {
    const first = await fleet.join('a', [minutely()])
    await fleet.advance(5 * MINUTE)
    await fleet.leave(first)
    fleet.clock.advance(HOUR)
    await fleet.join('b', [minutely()])
    await fleet.advance(5 * MINUTE)
    await pauseJob(fleet.store, 'job', { by: 'ann', note: '', missed: 'skip' })
    await fleet.advance(30 * MINUTE)
    expect(await sums()).toEqual([70, 70, 0, 0, 0])
    await resumeJob(fleet.store, 'job', { by: 'ann', note: '' })
    await fleet.advance(5 * MINUTE)
    expect(await sums()).toEqual([105, 105, 0, 0, 0])
  })

  it('over an edit, a removal, and a registration anew', async () => {
    await fleet.join('a', [minutely(), other])
    await fleet.advance(10 * MINUTE)
    const edited = await fleet.join('b', [minutely({ schedule: every('5m') }), other])
    await fleet.advance(20 * MINUTE, 5_000)
    expect(await sums()).toEqual([14, 14, 0, 0, 0])
    await fleet.leave(edited)
    await fleet.advance(10 * MINUTE, 5_000)
    expect((await readJob(fleet.store, 'job'))?.generation).toBe(3)
    const [expected, recorded, ...rest] = await sums()
    expect(expected).toBeGreaterThan(20)
    expect([recorded, ...rest]).toEqual([expected, 0, 0, 0])
  })

  it('over a job that nobody carries any more, and one that comes back too late', async () => {
    const both = await fleet.join('a', [minutely(), other])
    await fleet.advance(10 * MINUTE)
    await fleet.join('b', [other])
    await fleet.leave(both)
    await fleet.advance(5 * MINUTE, 5_000)
    const goneAt = (await readJob(fleet.store, 'job'))?.goneAt ?? 0
    const owed = Math.floor((goneAt - NOON) / MINUTE)
    expect(await sums()).toEqual([owed, owed, 0, 0, 0])
    await fleet.advance(HOUR, 15_000)
    expect(await sums()).toEqual([owed, owed, 0, 0, 0])
    await fleet.join('c', [minutely(), other])
    await fleet.advance(10 * MINUTE)
    expect(await sums()).toEqual([owed + 10, owed + 10, 0, 0, 0])
  })

  it('over folded days, as whole days, and expects no run by hand', async () => {
    await fleet.join('a', [minutely()])
    for (let count = 0; count < 10; count++) {
      await fleet.advance(MINUTE)
      await startRun(fleet.store, 'job')
      await endRun(fleet.store, 'job')
    }
    const at = fleet.clock.now()
    const hand = { token: 't', leaseMs: 1, by: 'ann', release: 'r' }
    await claimManual(fleet.store, 'job', { ...hand, instant: formatSlotId(at), at })
    expect(await sums()).toEqual([10, 10, 0, 0, 0])
    await foldHistory(fleet.store, 'job', { now: at, bounds: { ...DEFAULT_HISTORY, detailSlots: 4 } })
    expect(await fleet.redis.zcard(key('slots'))).toBeLessThan(10)
    expect(await sums()).toEqual([10, 10, 0, 0, 0])
    const part = await auditService(fleet.store, { fromAt: NOON + 3 * MINUTE, toAt: NOON + 5 * MINUTE })
    expect(numbers(part)).toEqual([10, 10, 0, 0, 0])
  })

  it('while slots are on their way, and says so no longer when they are late', async () => {
    await fleet.join('a', [minutely()])
    await fleet.advance(2 * MINUTE)
    fleet.clock.advance(MINUTE)
    expect(await sums()).toEqual([2, 2, 0, 0, 0])
    fleet.clock.advance(3 * MINUTE)
    expect(await sums()).toEqual([4, 2, 2, 0, 0])
  })
})

describe('an audit finds', () => {
  it('a record that was lost, a slot of a gap that ran, and a slot that nobody had', async () => {
    const first = await fleet.join('a', [minutely()])
    await fleet.advance(5 * MINUTE)
    await fleet.leave(first)
    fleet.clock.advance(HOUR)
    await fleet.join('b', [minutely()])
    await fleet.advance(2 * MINUTE)
    const [lost, gapped, odd] = [NOON + 2 * MINUTE, NOON + 20 * MINUTE, NOON + 2 * MINUTE + 30_000]
    await fleet.redis.zrem(key('slots'), formatSlotId(lost))
    await fleet.redis.zadd(key('slots'), String(gapped), formatSlotId(gapped), String(odd), formatSlotId(odd))
    const range = ['--from', '2026-06-01', '--to', '2026-06-01T13:05:00Z']
    const run = await cronceHere(['audit', ...range, '--json'], { url: redis.url, service: fleet.store.service })
    expect(run.code).toBe(1)
    expect(run.json()).toMatchObject({
      ...{ from: '2026-06-01T00:00:00.000Z', to: '2026-06-01T13:05:00.000Z' },
      ...{ jobs: 1, expected: 64, recorded: 63, missing: 1, double: 1, unexpected: 1 },
    })
    const { slots } = run.json() as { slots: { slot: string; problem: string }[] }
    expect(slots.map(({ slot, problem }) => [slot, problem]).toSorted()).toEqual([
      ['job@20260601T120200Z', 'missing'],
      ['job@20260601T120230Z', 'unexpected'],
      ['job@20260601T122000Z', 'double'],
    ])
    const text = await cronceHere(['audit', ...range], { url: redis.url, service: fleet.store.service })
    expect(text.out).toContain(' 1 job  expected 64  recorded 63  missing 1  double 1')
    expect(text.out).toContain('job@20260601T120200Z')
  })

  it('nothing wrong, and exits well, where all is recorded', async () => {
    await fleet.join('a', [minutely(), other])
    await fleet.advance(5 * MINUTE)
    const args = ['audit', '--from', '2026-06-01', '--to', '2026-06-01T12:05:00Z', '--job', 'job']
    const run = await cronceHere(args, { url: redis.url, service: fleet.store.service })
    expect([run.code, run.out]).toEqual([0, ' 1 job  expected 4  recorded 4  missing 0  double 0\n'])
    const unknown = await cronceHere(['audit', '--job', 'jop', '--json'], {
      url: redis.url,
      service: fleet.store.service,
    })
    expect(unknown.code).toBe(2)
  })

  it('one missing slot among the 86,400 of a day, within seconds', async () => {
    await fleet.join('a', [minutely({ schedule: every('1s') })])
    const pairs: string[] = []
    for (let second = 1; second <= 86_400; second++) {
      const at = NOON + second * 1_000
      if (second !== 40_000) pairs.push(String(at), formatSlotId(at))
    }
    for (let start = 0; start < pairs.length; start += 20_000)
      await fleet.redis.zadd(key('slots'), ...pairs.slice(start, start + 20_000))
    await fleet.redis.hset(key('job'), 'watermark', NOON + DAY)
    fleet.clock.advance(DAY)
    const startedAt = performance.now()
    const audit = await auditService(fleet.store, { fromAt: NOON, toAt: NOON + DAY + 1 })
    expect(numbers(audit)).toEqual([86_400, 86_399, 1, 0, 0])
    expect(audit.slots.map(({ slot }) => slot)).toEqual([`job@${formatSlotId(NOON + 40_000_000)}`])
    expect(performance.now() - startedAt).toBeLessThan(15_000)
  })
})
