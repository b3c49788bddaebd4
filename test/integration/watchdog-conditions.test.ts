import { cron, defineJob, type JobDefinition } from '@cronce/core'
import { forgetJob, listAlarmJournal, listRaisedAlarms, pauseJob, resumeJob } from '@cronce/store'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createFleet, type Fleet, NOON } from '../support/fleet.ts'
import { type RedisServer, startRedis } from '../support/index.ts'
import { endRun, startRun } from '../support/play-worker.ts'
import { type WatchedFleet, watchFleet } from '../support/watch-fleet.ts'

let redis: RedisServer
let fleet: Fleet
let watched: WatchedFleet
let services = 0

const MINUTE_MS = 60_000
const FIVE = ['a', 'b', 'c', 'd', 'e']

beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())
afterEach(() => fleet.close())

const hourly = defineJob({
  name: 'settlement',
  schedule: cron('0 * * * *'),
  onCrash: 'complete',
  queue: 'finance',
  tolerance: { start: '5m', finish: '30m' },
})
const SERVED = { queues: { finance: 5 }, handlers: { settlement: 1 } }

/** Five replicas that carry these jobs, half a minute before one o'clock. */
async function five(jobs: readonly JobDefinition[] = [hourly], startAt = NOON + 59.5 * MINUTE_MS): Promise<void> {
  services += 1
  fleet = createFleet({ url: redis.url, service: `watch-${services}`, startAt })
  watched = watchFleet(fleet)
  for (const id of FIVE) watched.add(await fleet.join(id, jobs))
}

describe('an alarm', () => {
  it('for a slot that no worker starts is raised once by five replicas, names job, slot and reason, and clears once', async () => {
    await five()
    watched.workers = [{ queues: { other: 1 } }]
    await watched.advance(20 * MINUTE_MS)
    expect(watched.of('overdue-start')).toEqual([
      'raised settlement@20260601T130000Z: no worker serves queue "finance"',
    ])
    expect(watched.told.find(({ kind }) => kind === 'overdue-start')).toMatchObject({
      job: 'settlement',
      sinceAt: NOON + 65 * MINUTE_MS,
    })
    expect(watched.of('queue-unserved')).toEqual([
      'raised -: no worker serves queue "finance"; it has the jobs settlement',
    ])
    watched.workers = [SERVED]
    await startRun(fleet.store, 'settlement')
    await watched.advance(5 * MINUTE_MS)
    expect(watched.told.map(({ event, kind }) => `${event} ${kind}`).toSorted()).toEqual([
      'cleared overdue-start',
      'cleared queue-unserved',
      'raised overdue-start',
      'raised queue-unserved',
    ])
    expect(await listRaisedAlarms(fleet.store)).toEqual([])
    const journal = await listAlarmJournal(fleet.store, { limit: 100 })
    expect(journal.map(({ event, kind }) => `${event} ${kind}`).toReversed()).toEqual(
      watched.told.map(({ event, kind }) => `${event} ${kind}`),
    )
  })

  it('is raised for a run that does not end in time, and clears when it has', async () => {
    await five()
    watched.workers = [SERVED]
    await watched.advance(MINUTE_MS)
    await startRun(fleet.store, 'settlement')
    await watched.advance(29 * MINUTE_MS)
    expect(watched.told).toEqual([])
    await watched.advance(2 * MINUTE_MS)
    expect(watched.of('overdue-finish')).toEqual([
      'raised settlement@20260601T130000Z: runs since 13:00Z, started by played: 0 of 1 entities done',
    ])
    await endRun(fleet.store, 'settlement')
    await watched.advance(5 * MINUTE_MS)
    expect(watched.told.map(({ event }) => event)).toEqual(['raised', 'cleared'])
  })

  it('is raised for slots that were never claimed, by a worker, when every trigger is dead', async () => {
    await five()
    watched.workers = [SERVED]
    const process = watchFleet(fleet)
    process.addProcess('worker-1')
    process.workers = [SERVED]
    // The looks of the triggers' own watchdogs end with them.
    await process.look()
    fleet.clock.advance(2 * MINUTE_MS)
    for (let step = 0; step < 60; step++) {
      fleet.clock.advance(10_000)
      await process.look()
    }
    expect(process.of('loop-stopped')).toEqual(['raised -: no trigger alive since 12:59Z'])
    expect(process.of('overdue-start')).toEqual(['raised settlement@20260601T130000Z: no trigger alive since 12:59Z'])
    expect(process.told).toHaveLength(2)
    // One comes back: the slot runs late, and the alarms clear.
    await process.advance(MINUTE_MS)
    await startRun(fleet.store, 'settlement')
    await process.advance(MINUTE_MS)
    expect(process.told.map(({ event }) => event)).toEqual(['raised', 'raised', 'cleared', 'cleared'])
  })

  it('tells a handler that is missing, and one in a version that is too old, from a queue that nobody serves', async () => {
    const second = defineJob({ ...hourlyInput('second'), version: 2 })
    await five([hourly, second])
    watched.workers = [{ queues: { finance: 5 }, handlers: { second: 1 } }]
    await watched.advance(4 * MINUTE_MS)
    expect(watched.of('queue-unserved').toSorted()).toEqual([
      'raised second: no worker of queue "finance" has version 2 of the handler for second, only 1',
      'raised settlement: no worker of queue "finance" has a handler for settlement',
    ])
    watched.workers = [{ queues: { finance: 5 }, handlers: { second: 2, settlement: 1 } }]
    await watched.advance(2 * MINUTE_MS)
    expect(watched.told.filter(({ event }) => event === 'cleared')).toHaveLength(2)
  })

  it('is raised for runs that take nearly as long as the time between slots', async () => {
    const minutely = defineJob({ name: 'rates', schedule: cron('* * * * *'), onCrash: 'skip', queue: 'finance' })
    await five([minutely])
    watched.workers = [{ queues: { finance: 5 }, handlers: { rates: 1 } }]
    await watched.advance(30_000)
    const play = async (runs: number, tookMs: number) => {
      for (let run = 0; run < runs; run++) {
        await startRun(fleet.store, 'rates')
        await watched.advance(tookMs)
        await endRun(fleet.store, 'rates')
        await watched.advance(MINUTE_MS - tookMs)
      }
    }
    await play(6, 50_000)
    expect(watched.of('duration-near-interval')).toEqual([
      'raised rates: runs take up to 83 % of the time between its slots',
    ])
    await play(20, 20_000)
    expect(watched.told.map(({ event, kind }) => `${event} ${kind}`)).toEqual([
      'raised duration-near-interval',
      'cleared duration-near-interval',
    ])
  })

  it('is raised for a job that a deploy forgot, and clears when it is carried again or counts as removed', async () => {
    const kept = defineJob(hourlyInput('kept'))
    services += 1
    fleet = createFleet({ url: redis.url, service: `watch-${services}`, startAt: NOON + 10_000 })
    watched = watchFleet(fleet)
    watched.workers = [{ queues: { finance: 5 }, handlers: { settlement: 1, kept: 1 } }]
    const old = await fleet.join('old', [hourly, kept])
    watched.add(old)
    await watched.advance(MINUTE_MS)
    const forgetful = await fleet.join('new', [kept])
    watched.add(forgetful)
    await fleet.leave(old)
    await watched.advance(5 * MINUTE_MS)
    expect(watched.of('not-registered')).toEqual([
      expect.stringMatching(
        /^raised settlement: no live replica carries settlement since 12:0\dZ; its slots do not fire, and from 13:0\dZ on/,
      ),
    ])
    watched.add(await fleet.join('fixed', [hourly, kept]))
    await watched.advance(3 * MINUTE_MS)
    expect(watched.told.map(({ event }) => event)).toEqual(['raised', 'cleared'])
  })

  it('is raised for a loop that stopped in a process that lives', async () => {
    await five()
    watched.workers = [SERVED]
    const [stuck] = FIVE
    await watched.advance(MINUTE_MS)
    // Its watchdog goes on looking; its loop beats no more.
    const rest = watchFleet(fleet)
    rest.addProcess(stuck ?? '')
    await fleet.redis.hset(`cronce:{${fleet.store.service}}:replicas`, 'stuck', await silentPresence('a', 'stuck'))
    rest.addProcess('stuck')
    await rest.advance(5 * MINUTE_MS)
    expect(rest.of('loop-stopped')).toEqual([
      'raised -: the process of replica stuck lives, and its trigger loop has not ticked since 13:00Z',
    ])
  })
})

describe('no alarm', () => {
  it('is raised for a job that is paused, and none for what the pause skipped after its end', async () => {
    await five()
    watched.workers = [{ queues: { finance: 5 } }]
    await pauseJob(fleet.store, 'settlement', { by: 'ops', note: 'month end', missed: 'skip' })
    await watched.advance(62 * MINUTE_MS)
    await resumeJob(fleet.store, 'settlement', { by: 'ops', note: 'done' })
    watched.workers = [SERVED]
    await watched.advance(20 * MINUTE_MS)
    expect(watched.told).toEqual([])
  })

  it('is raised for a job whose slot is not due yet, nor within its tolerance', async () => {
    await five()
    watched.workers = [SERVED]
    await watched.advance(5 * MINUTE_MS)
    expect((await fleet.slots('settlement')).map(({ state }) => state)).toEqual(['enqueued'])
    expect(watched.told).toEqual([])
  })

  it('is raised for a job that was removed', async () => {
    await five()
    watched.workers = [SERVED]
    await watched.advance(20_000)
    await forgetJob(fleet.store, 'settlement')
    await fleet.redis.del(`cronce:{${fleet.store.service}:job:settlement}:job`)
    for (let step = 0; step < 60; step++) {
      fleet.clock.advance(10_000)
      await watched.look()
    }
    expect(watched.of('overdue-start')).toEqual([])
    expect(watched.of('queue-unserved')).toEqual([])
  })
})

function hourlyInput(name: string) {
  return {
    name,
    schedule: cron('0 * * * *'),
    onCrash: 'complete',
    queue: 'finance',
    tolerance: { start: '5m', finish: '30m' },
  } as const
}

async function silentPresence(of: string, id: string): Promise<string> {
  const text = await fleet.redis.hget(`cronce:{${fleet.store.service}}:replicas`, of)
  return JSON.stringify({ ...(JSON.parse(text ?? '{}') as object), id })
}
