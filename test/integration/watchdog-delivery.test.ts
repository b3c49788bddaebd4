import { type CronceEvents, createEmitter, cron, defineJob, type SlotKey } from '@cronce/core'
import { listAlarmJournal, takeLetters } from '@cronce/store'
import { createWatchdog, verifyWebhook, type WatchdogSettings, webhookNotifier } from '@cronce/watchdog'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createFleet, type Fleet, NOON } from '../support/fleet.ts'
import { type RedisServer, startRedis, waitUntil } from '../support/index.ts'
import { manualClock } from '../support/manual-clock.ts'
import { type Received, type ScriptedReceiver, startReceiver } from '../support/scripted-receiver.ts'
import { type WatchedFleet, watchFleet } from '../support/watch-fleet.ts'

const MINUTE_MS = 60_000
const SECRET = 'a secret of some length'
const PATH = '/hooks/a-path-that-nobody-may-see'

let redis: RedisServer
let receiver: ScriptedReceiver
let fleet: Fleet
let watched: WatchedFleet
let undelivered: CronceEvents['alarm.undelivered'][]
let services = 0

beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())
beforeEach(async () => {
  receiver = await startReceiver()
})
afterEach(async () => {
  await fleet.close()
  await receiver.close()
})

const hourly = defineJob({ name: 'settlement', schedule: cron('0 * * * *'), onCrash: 'complete', queue: 'finance' })

/** Replicas that carry an hourly job that nobody serves, five minutes before its slot is overdue. */
async function join(count: number, settings: () => WatchdogSettings): Promise<void> {
  services += 1
  fleet = createFleet({ url: redis.url, service: `deliver-${services}`, startAt: NOON + 59 * MINUTE_MS })
  watched = watchFleet(fleet)
  watched.workers = [{ queues: { other: 1 } }]
  undelivered = []
  for (let index = 0; index < count; index++) {
    const trigger = await fleet.join(`r${index}`, [hourly], { watchdog: settings() })
    trigger.events.on('alarm.undelivered', (facts) => undelivered.push(facts))
    watched.add(trigger)
  }
}

const hook = (): WatchdogSettings => ({
  notifiers: [webhookNotifier({ url: receiver.url + PATH, secret: SECRET, timeoutMs: 300, clock: fleet.clock })],
})

interface Body {
  readonly id: string
  readonly service: string
  readonly alarms: readonly {
    id: string
    event: string
    kind: string
    job: string | null
    slot: string | null
    reason: string
  }[]
}
const bodyOf = ({ body }: Received) => JSON.parse(body) as Body

function verdictOf({ headers, body }: Received, secret = SECRET) {
  const [timestamp, signature] = [headers['cronce-timestamp'], headers['cronce-signature']]
  return verifyWebhook({
    timestamp: String(timestamp),
    signature: String(signature),
    ...{ body, secrets: [secret], now: Number(timestamp) * 1000 },
  })
}

describe('a webhook', () => {
  it('tells each alarm once from five replicas, signed, with job, slot and reason, and its end', async () => {
    await join(5, hook)
    await watched.advance(8 * MINUTE_MS)
    watched.workers = [{ queues: { finance: 1 }, handlers: { settlement: 1 } }]
    await watched.advance(3 * MINUTE_MS)
    expect(receiver.received.map((request) => verdictOf(request))).toEqual(receiver.received.map(() => 'valid'))
    expect(receiver.received.map((request) => verdictOf(request, 'another secret altogether'))).not.toContain('valid')
    const alarms = receiver.received.flatMap((request) => bodyOf(request).alarms)
    expect(new Set(alarms.map(({ id }) => id)).size).toBe(alarms.length)
    expect(alarms.map(({ event, kind }) => `${event} ${kind}`).toSorted()).toEqual([
      'cleared queue-unserved',
      'raised overdue-start',
      'raised queue-unserved',
    ])
    expect(alarms.find(({ kind }) => kind === 'overdue-start')).toMatchObject({
      job: 'settlement',
      slot: 'settlement@20260601T130000Z',
      reason: 'no worker serves queue "finance"',
    })
    expect(undelivered).toEqual([])
  })

  it('is tried again, by whoever looks, when the receiver fails, cuts the line or never answers', async () => {
    await join(2, hook)
    receiver.script(500, 'cut', 'black-hole', 302)
    await watched.advance(8 * MINUTE_MS)
    const idsOf = (requests: readonly Received[]) =>
      requests.flatMap((request) => bodyOf(request).alarms.map(({ id }) => id))
    const [failed, taken] = [idsOf(receiver.received.slice(0, 4)), idsOf(receiver.received.slice(4))]
    expect(failed.length).toBeGreaterThanOrEqual(4)
    expect(taken.toSorted()).toEqual([...new Set([...failed, ...taken])].toSorted())
    expect(receiver.received.map((request) => verdictOf(request))).toEqual(receiver.received.map(() => 'valid'))
    expect(undelivered).toEqual([])
    expect((await takeLetters(fleet.store, { putOffMs: 0, most: 10 })).letters).toEqual([])
  })

  it('that reaches nobody is itself to be seen: an event, an entry in the journal, and no URL in either', async () => {
    await join(1, hook)
    receiver.always(503)
    await watched.advance(7 * MINUTE_MS)
    for (let step = 0; step < 80; step++) {
      fleet.clock.advance(1.5 * MINUTE_MS)
      await fleet.tick()
      await fleet.sweep()
      await watched.look()
    }
    const told = undelivered.filter(({ alarms }) => alarms.some((key) => key.startsWith('overdue-start')))
    expect(told).toMatchObject([{ notifier: receiver.url + '/***', attempts: 7 }])
    const journal = await listAlarmJournal(fleet.store, { limit: 100 })
    const dead = journal.filter(({ event }) => event === 'undelivered')
    expect(dead.map(({ kind }) => kind)).toContain('overdue-start')
    expect(dead[0]?.reason).toMatch(/did not reach .* in 7 attempts: .* it answered 503/)
    expect(JSON.stringify([dead, undelivered.map(({ error }) => String(error))])).not.toContain('nobody-may-see')
  })

  it('is sent by another process where the one that took it dies', async () => {
    await join(1, () => ({}))
    watched.addProcess('ops', hook())
    // Somebody takes every letter that is due and is never heard of again.
    let stolen = 0
    for (let step = 0; step < 48 && stolen === 0; step++) {
      fleet.clock.advance(10_000)
      await fleet.tick()
      await fleet.sweep()
      receiver.script('cut')
      await watched.look()
      stolen += receiver.received.length
    }
    fleet.clock.advance(10_000)
    const { letters } = await takeLetters(fleet.store, { putOffMs: 60_000, most: 10 })
    expect(letters.length).toBeGreaterThan(0)
    const before = receiver.received.length
    await watched.advance(50_000)
    expect(receiver.received).toHaveLength(before)
    await watched.advance(30_000)
    const ids = receiver.received.slice(before).flatMap((request) => bodyOf(request).alarms.map(({ id }) => id))
    expect(ids).toEqual(expect.arrayContaining(letters.map(({ entry }) => entry.id)))
  })

  it('that is added later is not told what is long over', async () => {
    await join(1, () => ({}))
    await watched.advance(10 * MINUTE_MS)
    expect(watched.of('overdue-start')).toHaveLength(1)
    watched.addProcess('ops', hook())
    await watched.advance(2 * MINUTE_MS)
    expect(receiver.received).toEqual([])
  })
})

describe('a heartbeat', () => {
  it('is got for a run that succeeded, posted to /fail for one that did not, and tried again', async () => {
    await join(0, () => ({}))
    const clock = manualClock(NOON)
    const events = createEmitter()
    const failed: CronceEvents['heartbeat.failed'][] = []
    events.on('heartbeat.failed', (facts) => failed.push(facts))
    const heartbeats = { settlement: `${receiver.url}${PATH}?a=1` }
    const watchdog = createWatchdog({ store: fleet.store, events, who: 'w', clock, heartbeats, random: () => 0.5 })
    watchdog.start()
    const end = (state: CronceEvents['run.ended']['state'], job = 'settlement') =>
      events.emit('run.ended', { slot: `${job}@20260601T120000Z` as SlotKey, state, version: 1 })
    const arrive = (count: number) =>
      waitUntil(() => receiver.received.length === count, { message: `${count} heartbeats` })
    end('succeeded')
    await arrive(1)
    end('failed')
    await arrive(2)
    end('succeeded', 'another')
    end('skipped')
    receiver.always(500)
    end('succeeded')
    for (const count of [3, 4, 5]) {
      await arrive(count)
      if (count < 5) await waitUntil(() => clock.armed === 2, { message: 'another attempt is planned' })
      clock.advance(10_000)
    }
    await waitUntil(() => failed.length === 1, { message: 'the heartbeat is given up' })
    expect(String(failed[0]?.error)).not.toContain('nobody-may-see')
    expect(receiver.received.map(({ method, path }) => `${method} ${path}`)).toEqual([
      `GET ${PATH}?a=1`,
      `POST ${PATH}/fail?a=1`,
      `GET ${PATH}?a=1`,
      `GET ${PATH}?a=1`,
      `GET ${PATH}?a=1`,
    ])
    await watchdog.stop()
    expect(clock.armed).toBe(0)
  })
})
