import { type CronceEvents, defineJob, every } from '@cronce/core'
import { connect, createStore } from '@cronce/store'
import { createTrigger } from '@cronce/trigger'
import { scheduleHealth } from '@cronce/watchdog'
import { createWorker, handle } from '@cronce/worker'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RedisServer, startRedis, waitUntil } from '../support/index.ts'
import { type ScriptedReceiver, startReceiver } from '../support/scripted-receiver.ts'

let redis: RedisServer
let receiver: ScriptedReceiver

beforeAll(async () => {
  redis = await startRedis()
  receiver = await startReceiver()
})
afterAll(async () => {
  await redis.stop()
  await receiver.close()
})

const logger = pino({ level: 'silent' })
const quick = defineJob({
  name: 'quick',
  schedule: every('1s'),
  onCrash: 'complete',
  catchUp: { mode: 'skip' },
  tolerance: { start: '3s', finish: '10s' },
})

describe('a worker', () => {
  it('raises the alarm when every trigger is gone, clears it when one is back, and tells each run that succeeded', async () => {
    const service = 'alone'
    const told: (CronceEvents['alarm.raised'] & { event: string })[] = []
    const worker = createWorker({
      ...{ service, redis: redis.url, logger, id: 'worker-1', queues: { default: 5 } },
      handlers: [handle(quick, { each: async () => undefined })],
      watchdog: { interval: '1s', heartbeats: { quick: `${receiver.url}/ping` } },
    })
    worker.events.on('alarm.raised', (facts) => told.push({ event: 'raised', ...facts }))
    worker.events.on('alarm.cleared', (facts) => told.push({ event: 'cleared', ...facts }))
    const trigger = (id: string) =>
      createTrigger({ service, redis: redis.url, logger, id, jobs: [quick], watchdog: 'off' })
    const client = connect(redis.url, 'producer')
    const store = createStore({ redis: client, service })
    const first = trigger('r1')
    const second = trigger('r2')
    try {
      await Promise.all([worker.start(), first.start()])
      await waitUntil(() => receiver.received.length > 0, { message: 'a heartbeat of a run' })
      expect(receiver.received[0]).toMatchObject({ method: 'GET', path: '/ping' })
      expect(await scheduleHealth(store)).toEqual({ status: 'ok', overdue: [] })
      await first.stop()
      await waitUntil(() => told.length > 0, { message: 'the alarm', timeoutMs: 30_000 })
      expect(told).toMatchObject([{ event: 'raised', kind: 'overdue-start', job: 'quick' }])
      expect(told[0]?.reason).toMatch(/^no trigger alive since \d\d:\d\dZ/)
      const health = await scheduleHealth(store)
      expect(health.status).toBe('overdue')
      expect(health.overdue[0]).toMatchObject({ job: 'quick', kind: 'start', slot: told[0]?.slot })
      await second.start()
      await waitUntil(() => told.length > 1, { message: 'the end of the alarm', timeoutMs: 30_000 })
      expect(told[1]).toMatchObject({ event: 'cleared', kind: 'overdue-start' })
      expect((await second.overdue()).status).toBe('ok')
    } finally {
      await Promise.all([first.stop(), second.stop(), worker.stop()])
      client.disconnect()
    }
  })
})
