import { cron, defineJob, type JobDefinition } from '@cronce/core'
import { listGaps, pauseJob, readJob, resumeJob } from '@cronce/store'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createFleet, type Fleet, NOON } from '../support/fleet.ts'
import { type RedisServer, startRedis } from '../support/index.ts'
import { endRun, startRun } from '../support/play-worker.ts'

let redis: RedisServer
let fleet: Fleet
let services = 0

beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())
afterEach(() => fleet.close())

function newFleet(startAt = NOON): Fleet {
  services += 1
  fleet = createFleet({ url: redis.url, service: `policies-${services}`, startAt })
  return fleet
}

const MINUTE = 60_000

function minutely(overlap: JobDefinition['overlap'], extra: object = {}): JobDefinition {
  return defineJob({ name: 'job', schedule: cron('* * * * *'), onCrash: 'complete', overlap, ...extra })
}

const states = async () => (await fleet.slots('job')).map(({ id, state }) => `${id.slice(9, 13)} ${state}`)

describe('overlap', () => {
  it('skip records the slot that comes due while the run before it has not ended', async () => {
    newFleet()
    await fleet.join('a', [minutely('skip')])
    await fleet.advance(MINUTE)
    await startRun(fleet.store, 'job')
    await fleet.advance(MINUTE)
    expect(await states()).toEqual(['1201 running', '1202 skipped'])
    expect((await fleet.slots('job'))[1]!.reason).toContain('overlap')
    await endRun(fleet.store, 'job')
    await fleet.advance(MINUTE)
    expect(await states()).toEqual(['1201 succeeded', '1202 skipped', '1203 enqueued'])
  })

  it('queue keeps the newest only, and starts it when the run before it ends', async () => {
    newFleet()
    await fleet.join('a', [minutely('queue')])
    await fleet.advance(MINUTE)
    await startRun(fleet.store, 'job')
    await fleet.advance(2 * MINUTE)
    expect(await states()).toEqual(['1201 running', '1202 skipped', '1203 due'])
    await endRun(fleet.store, 'job')
    await fleet.advance(15_000)
    expect(await states()).toEqual(['1201 succeeded', '1202 skipped', '1203 enqueued'])
  })

  it('allow runs them in parallel', async () => {
    newFleet()
    await fleet.join('a', [minutely('allow')])
    await fleet.advance(2 * MINUTE)
    expect(await states()).toEqual(['1201 enqueued', '1202 enqueued'])
  })

  it('cancel-previous ends the old run at once and starts the new one when its worker lets go, at the latest after the timeout', async () => {
    newFleet()
    await fleet.join('a', [minutely('cancel-previous', { timeout: '20s' })])
    await fleet.advance(MINUTE)
    const held = await startRun(fleet.store, 'job', { holdChunk: true })
    await fleet.advance(MINUTE)
    expect(await states()).toEqual(['1201 skipped', '1202 due'])
    expect(await held.settle()).toBe('gone')
    await fleet.advance(10_000)
    expect(await states()).toEqual(['1201 skipped', '1202 due'])
    await fleet.advance(20_000)
    expect(await states()).toEqual(['1201 skipped', '1202 enqueued'])
  })
})

describe('pause', () => {
  it('stops starts, is one gap, and ends by itself', async () => {
    newFleet()
    await fleet.join('a', [minutely('allow')])
    await fleet.advance(MINUTE)
    await pauseJob(fleet.store, 'job', {
      by: 'ann',
      note: 'incident 4711',
      untilAt: NOON + 5.5 * MINUTE,
      missed: 'skip',
    })
    await fleet.advance(5 * MINUTE)
    expect(await states()).toEqual(['1201 enqueued', '1206 enqueued'])
    const gaps = await listGaps(fleet.store, 'job', { afterAt: 0, limit: 10 })
    expect(gaps.map(({ count, state, reason }) => [count, state, reason])).toEqual([
      [4, 'skipped', 'paused by ann: incident 4711'],
    ])
  })

  it('cuts what was missed meanwhile by the catch-up policy where its author says so', async () => {
    newFleet()
    await fleet.join('a', [minutely('allow', { catchUp: { mode: 'latest', within: '1h', atMost: 5 } })])
    await fleet.advance(MINUTE)
    await pauseJob(fleet.store, 'job', { by: 'ann', note: '', missed: 'skip' })
    await fleet.advance(4 * MINUTE)
    expect(await states()).toEqual(['1201 enqueued'])
    await resumeJob(fleet.store, 'job', { by: 'ann', note: '', missed: 'catch-up' })
    await fleet.advance(MINUTE)
    expect(await states()).toEqual(['1201 enqueued', '1205 enqueued', '1206 enqueued'])
    const gaps = await listGaps(fleet.store, 'job', { afterAt: 0, limit: 10 })
    expect(gaps.map(({ count, state }) => [count, state])).toEqual([[3, 'skipped']])
  })
})

describe('expiry', () => {
  it('drops a run that was not started by its use-by', async () => {
    newFleet()
    await fleet.join('a', [minutely('skip', { tolerance: { start: '20s', finish: '50s' }, expire: '30s' })])
    await fleet.advance(MINUTE + 45_000)
    expect(await states()).toEqual(['1201 skipped'])
    expect((await fleet.slots('job'))[0]!.reason).toContain('expired')
  })
})

describe('the past stays past', () => {
  const at = (expression: string, name = 'job') =>
    defineJob({
      name,
      schedule: cron(expression),
      onCrash: 'complete',
      overlap: 'allow',
      catchUp: { mode: 'late', within: '1h', atMost: 5 },
    })

  it('fires nothing of an edited schedule for an instant before the edit, and loses nothing of the old one', async () => {
    newFleet()
    const old = await fleet.join('old', [at('0 13 * * *')])
    fleet.clock.set(NOON + 3600_000 + 500)
    const edited = await fleet.join('new', [at('30 12 * * *')])
    await fleet.tick()
    expect(await states()).toEqual(['1300 enqueued'])
    await fleet.leave(old)
    await fleet.advance(60_000)
    expect(await states()).toEqual(['1300 enqueued'])
    expect((await readJob(fleet.store, 'job'))!.generation).toBe(2)
    await fleet.leave(edited)
  })

  it('keeps the newest image when an old one restarts in the middle, and goes back when only old ones are left', async () => {
    newFleet()
    const first = [at('*/10 * * * *')]
    const second = [at('*/15 * * * *')]
    await fleet.join('old-1', first)
    const newer = await fleet.join('new-1', second)
    await fleet.join('old-2', first)
    expect((await readJob(fleet.store, 'job'))!.settings).toMatchObject({ schedule: { expression: '*/15 * * * *' } })
    await fleet.advance(15 * MINUTE, 5_000)
    expect(await states()).toEqual(['1215 enqueued'])
    await fleet.leave(newer)
    await fleet.advance(20_000, 5_000)
    expect((await readJob(fleet.store, 'job'))!.settings).toMatchObject({ schedule: { expression: '*/15 * * * *' } })
    await fleet.advance(10 * MINUTE, 5_000)
    expect((await readJob(fleet.store, 'job'))!.settings).toMatchObject({ schedule: { expression: '*/10 * * * *' } })
    await fleet.advance(20 * MINUTE, 5_000)
    expect((await states()).slice(-1)).toEqual(['1240 enqueued'])
  })

  it('stops a job that no image carries any more, and never counts a retry count as an edit', async () => {
    newFleet()
    const other = at('0 0 1 1 *', 'other')
    const both = await fleet.join('both', [at('* * * * *'), other])
    await fleet.advance(MINUTE)
    const retried = defineJob({ ...input('* * * * *'), retry: { attempts: 7 } })
    const changed = await fleet.join('changed', [retried, other])
    expect(await readJob(fleet.store, 'job')).toMatchObject({ generation: 1, settings: { retry: { attempts: 7 } } })
    await fleet.join('without', [other])
    await fleet.leave(both)
    await fleet.leave(changed)
    await fleet.advance(5 * MINUTE)
    const job = await readJob(fleet.store, 'job')
    expect(job!.goneAt).toBeDefined()
    const before = (await states()).length
    await fleet.advance(5 * MINUTE)
    expect((await states()).length).toBe(before)
  })
})

function input(expression: string) {
  return {
    name: 'job',
    schedule: cron(expression),
    onCrash: 'complete' as const,
    overlap: 'allow' as const,
    catchUp: { mode: 'late' as const, within: '1h', atMost: 5 },
  }
}
