import { type CronceEvents, cron, defineJob } from '@cronce/core'
import { listAlarmJournal } from '@cronce/store'
import { createTrigger } from '@cronce/trigger'
import { webhookNotifier } from '@cronce/watchdog'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { createFleet, NOON } from '../support/fleet.ts'
import { startRedis, waitUntil } from '../support/index.ts'
import { startReceiver } from '../support/scripted-receiver.ts'

const MINUTE_MS = 60_000
const hourly = defineJob({ name: 'settlement', schedule: cron('0 * * * *'), onCrash: 'complete', queue: 'finance' })

describe('a trigger that cannot reach Redis at the slot', () => {
  it('raises the alarm from what it knows itself, tells it, and clears it when Redis is back', async () => {
    const redis = await startRedis({ appendonly: 'always' })
    const receiver = await startReceiver()
    const fleet = createFleet({ url: redis.url, service: 'away', startAt: NOON + 59 * MINUTE_MS })
    const { clock } = fleet
    fleet.redis.on('error', () => undefined)
    const told: (CronceEvents['alarm.raised'] & { event: string })[] = []
    const trigger = createTrigger({
      ...{ service: 'away', jobs: [hourly], redis: redis.url, id: 'r1', clock, time: 'clock', random: () => 0.5 },
      logger: pino({ level: 'silent' }),
      watchdog: { notifiers: [webhookNotifier({ url: receiver.url, secret: 'a secret of some length', clock })] },
    })
    // The clock runs far ahead of the world here, so there may be others.
    const note = (event: string) => (facts: CronceEvents['alarm.raised']) => {
      if (facts.kind === 'store-out-of-reach') told.push({ event, ...facts })
    }
    trigger.events.on('alarm.raised', note('raised'))
    trigger.events.on('alarm.cleared', note('cleared'))
    const posted = () => receiver.received.filter(({ body }) => body.includes('store-out-of-reach')).length
    const pass = async (until: () => boolean, message: string) => {
      const step = () => {
        clock.advance(500)
        return until()
      }
      await waitUntil(step, { message, everyMs: 25, timeoutMs: 30_000 })
    }
    try {
      await trigger.start()
      await waitUntil(() => trigger.health().lastReachedAt !== undefined || (clock.advance(10), false), {
        message: 'a pass',
      })
      await redis.kill()
      await pass(() => told.length > 0, 'the alarm')
      expect(told).toMatchObject([{ event: 'raised', kind: 'store-out-of-reach', slot: 'settlement@20260601T130000Z' }])
      expect(told[0]?.reason).toMatch(
        /^replica r1 cannot reach Redis since \d\d:\d\dZ; due and waiting for it: settlement@20260601T130000Z$/,
      )
      await waitUntil(() => posted() === 1, { message: 'the webhook' })
      await redis.restart()
      await pass(() => told.length > 1, 'the end of the alarm')
      expect(told.map(({ event, kind }) => `${event} ${kind}`)).toEqual([
        'raised store-out-of-reach',
        'cleared store-out-of-reach',
      ])
      await waitUntil(() => posted() === 2, { message: 'the webhook of its end' })
      const journal = async () =>
        (await listAlarmJournal(fleet.store, { limit: 100 })).filter(({ kind }) => kind === 'store-out-of-reach')
      const later = async () => {
        clock.advance(1_000)
        return (await journal()).length >= 2
      }
      await waitUntil(later, { message: 'the journal' })
      expect((await journal()).map(({ event }) => event)).toEqual(['cleared', 'raised'])
    } finally {
      await trigger.stop()
      await fleet.close()
      await receiver.close()
      await redis.stop()
    }
  })
})
