import { formatDeadLetterId, formatSlotId, formatSlotKey, parseDeadLetterId, parseSlotKey } from '@cronce/core'
import { redrive } from '@cronce/operations'
import { listSlots, readDeadLetter } from '@cronce/store'
import { createTrigger } from '@cronce/trigger'
import { handle } from '@cronce/worker'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RedisServer, startRedis, waitUntil } from '../support/index.ts'
import { type Ground, onceSoon, openGround } from './ground.ts'
import { jobOf, type Row } from './programs/job-spec.ts'

let server: RedisServer
let ground: Ground
beforeAll(async () => {
  server = await startRedis()
  ground = await openGround(server)
})
afterAll(async () => {
  await ground.close()
  await server.stop()
})

// BullMQ's own key names, integers, what breaks its ids, Redis Cluster's tags, URLs and shells, and what looks like another slot.
const NAMES = [
  ...[
    'eu/daily',
    'billing:daily',
    '@scope/pkg',
    '日次',
    'failed',
    'meta',
    'stalled-check',
    'wait',
    '2024',
    'a b',
    '{x}',
  ],
  ...[
    '../../etc',
    '🎉👩‍👩‍👧',
    'a-b',
    'a',
    'a/b',
    'a%2Fb',
    'x@20260101T000000Z',
    '__proto__',
    'constructor',
    'repeat:x:1',
    '-',
    '*',
    '?a=b&c',
  ],
]
const KEYS = [...NAMES, 'b-c', 'c', '2024:01:01', ':', 'line\nbreak', 'tab\t', '"quoted"', "'", '\\', 'é', '0', 'null']

describe('names and keys hostile to ids and URLs (C35, C36, C37)', () => {
  it('work end to end: claimed, queued, run, buried, redriven, each under its own name', async () => {
    const { at, schedule } = onceSoon(2_500)
    const jobs = NAMES.map((name) =>
      jobOf({
        ...{ name, schedule, onCrash: 'complete', chunk: { size: 10, concurrency: 5 } },
        retry: { attempts: 1, backoff: { type: 'fixed', delay: 20, jitter: 0 } },
      }),
    )
    let broken = true
    const effects: string[] = []
    const handlers = jobs.map((job) =>
      handle(job, {
        entities: ({ after }) => (after === undefined ? KEYS.map((id): Row => ({ id })) : []),
        each: async ({ id }, ctx) => {
          await ctx.once('e', () => void effects.push(`${ctx.slot.job} ${id}`))
          if (broken) throw new Error(`no luck with ${id}`)
        },
      }),
    )
    const logger = pino({ level: 'silent' })
    const trigger = createTrigger({ service: ground.service, jobs, redis: server.url, logger })
    const released: unknown[] = []
    trigger.events.on('slot.released', (facts) => void released.push(facts))
    await trigger.start()
    const worker = await ground.work(handlers, { queues: { default: 10 } })
    const run = (name: string) => ({ job: name, id: formatSlotId(at) })
    const slots = NAMES.map((job) => formatSlotKey({ job, at }))
    try {
      const ends = await Promise.all(
        NAMES.map((name) => waitUntil(() => ground.ended(run(name)), { message: name, timeoutMs: 30_000 })),
      )
      for (const end of ends)
        expect(end).toMatchObject({
          state: 'failed',
          entities: { planned: KEYS.length, dead: KEYS.length, duplicates: 0 },
        })
      expect(effects).toHaveLength(NAMES.length * KEYS.length)
      expect(new Set(effects).size).toBe(effects.length)
      expect(slots.map(parseSlotKey)).toEqual(NAMES.map((job) => ({ job, at })))

      // Every dead letter is found by its id, and shown on the queue under it.
      const ids = slots.flatMap((slot) => KEYS.map((key) => formatDeadLetterId(slot, key)))
      await waitUntil(async () => (await ground.queued('dead-letters')).length === ids.length, {
        message: 'all shown',
        timeoutMs: 20_000,
      })
      expect(await ground.queued('dead-letters')).toEqual(ids.toSorted())
      const [name = '', key = ''] = ['../../etc', ':']
      const letter = await readDeadLetter(ground.store, name, formatDeadLetterId(formatSlotKey({ job: name, at }), key))
      expect(letter).toMatchObject({ job: name, entity: key, payload: { id: key }, state: 'open' })
      expect(parseDeadLetterId(letter?.id ?? '')).toEqual({ slot: letter?.slot, entity: key })

      broken = false
      const access = { store: ground.store, enqueuer: ground.enqueuer, random: () => 0.5 }
      const { entities } = await redrive(access, { selection: { ids }, operator: { name: 'op' }, mode: 'redrive' })
      expect(entities).toBe(ids.length)
      for (const each of NAMES) {
        expect(await ground.ended(run(each), { version: 2, timeoutMs: 30_000 })).toMatchObject({
          state: 'succeeded',
          entities: { done: KEYS.length, dead: 0 },
        })
        expect(await listSlots(ground.store, each, { limit: 9 })).toHaveLength(1)
      }
      // Receipts were kept for the redrive: no effect twice.
      expect(effects).toHaveLength(NAMES.length * KEYS.length)
      expect(await ground.queued('dead-letters')).toEqual([])
      expect(released).toEqual([])
      expect(worker.told('queue.troubled')).toEqual([])
    } finally {
      await trigger.stop()
    }
  })
})
