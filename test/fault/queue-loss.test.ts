import { cron, formatDeadLetterId } from '@cronce/core'
import { redrive } from '@cronce/operations'
import { hintOpenWork, queuePrefix } from '@cronce/store'
import { handle } from '@cronce/worker'
import { Queue } from 'bullmq'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type RedisServer, startRedis, waitUntil } from '../support/index.ts'
import { type Ground, openGround, repeated, SLACK_MS } from './ground.ts'
import { jobOf, type Row } from './programs/job-spec.ts'

let server: RedisServer
let ground: Ground
beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())
beforeEach(async () => {
  ground = await openGround(server)
})
afterEach(() => ground.close())

const QUIET_MS = 1_000
const SWEEP_MS = 200
const job = jobOf({
  ...{ name: 'lossy', schedule: cron('0 3 1 1 *'), onCrash: 'complete', chunk: { size: 5, concurrency: 5 } },
  retry: { attempts: 1, backoff: { type: 'fixed', delay: 20, jitter: 0 } },
})
const rows = (count: number) =>
  Array.from({ length: count }, (_, index): Row => ({ id: `e${String(index).padStart(2, '0')}` }))
const page = (all: Row[], after: string | undefined, limit: number) =>
  all.filter(({ id }) => id > (after ?? '')).slice(0, limit)

/** What an operator does who has heard that obliterating a queue is harmless. */
async function obliterate(name: string): Promise<void> {
  const queue = new Queue(name, { connection: { url: server.url }, prefix: queuePrefix(ground.service, name) })
  await queue.obliterate({ force: true })
  await queue.close()
}

describe('a queue obliterated behind our back (C52, W3)', () => {
  it('before the slot was started: it is found and runs, once, within the quiet time and a sweep', async () => {
    const ran: string[] = []
    const run = await ground.start(job)
    await hintOpenWork(ground.store, [job.name], 0)
    await obliterate('default')
    expect(await ground.queued()).toEqual([])
    const lostAt = performance.now()
    await ground.work(
      [
        handle(job, {
          entities: ({ after, limit }) => page(rows(7), after, limit),
          each: ({ id }) => void ran.push(id),
        }),
      ],
      {
        readdAfter: QUIET_MS,
        sweepEvery: SWEEP_MS,
      },
    )
    expect(await ground.ended(run)).toMatchObject({
      state: 'succeeded',
      starts: 1,
      crashes: 0,
      entities: { planned: 7, done: 7 },
    })
    expect(performance.now() - lostAt).toBeLessThan(QUIET_MS + 2 * SWEEP_MS + SLACK_MS)
    expect(ran.toSorted()).toEqual(rows(7).map(({ id }) => id))
  })

  it('in the middle of a run: chunks that waited, and the one in hand, all settle, none twice', async () => {
    const ran: string[] = []
    let open = () => undefined as void
    const gate = new Promise<void>((resolve) => (open = resolve))
    const each = async ({ id }: Row) => {
      ran.push(id)
      await gate
    }
    const entities = ({ after, limit }: { after?: string | undefined; limit: number }) => page(rows(30), after, limit)
    const done: string[] = []
    await ground.work([handle(job, { entities, each, done: ({ state }) => void done.push(state) })], {
      ...{ readdAfter: QUIET_MS, sweepEvery: SWEEP_MS, queues: { default: 2 } },
    })
    const run = await ground.start(job)
    await waitUntil(() => ran.length === 10, { message: 'two chunks in hand' })
    await obliterate('default')
    open()
    expect(await ground.ended(run)).toMatchObject({
      state: 'succeeded',
      crashes: 0,
      entities: { planned: 30, done: 30 },
    })
    expect(ran.toSorted()).toEqual(rows(30).map(({ id }) => id))
    await waitUntil(() => done.length > 0, { message: 'done' })
    await waitUntil(async () => (await ground.queued()).length === 0, { message: 'nothing on the queue' })
    expect(done).toEqual(['succeeded'])
  })

  it('the dead-letter queue: a view only; what is redriven or dies later is shown right', async () => {
    let fails = true
    const each = () => {
      if (fails) throw new Error('told to')
    }
    await ground.work([handle(job, { entities: ({ after, limit }) => page(rows(3), after, limit), each })])
    const run = await ground.start(job)
    expect(await ground.ended(run)).toMatchObject({ state: 'failed', entities: { dead: 3 } })
    const ids = rows(3).map(({ id }) => formatDeadLetterId(run.slot, id))
    await waitUntil(async () => (await ground.queued('dead-letters')).length === 3, { message: 'three shown' })
    expect(await ground.queued('dead-letters')).toEqual(ids)
    await obliterate('dead-letters')
    fails = false
    const access = { store: ground.store, enqueuer: ground.enqueuer, random: () => 0.5 }
    const request = { selection: { ids }, operator: { name: 'op' }, mode: 'redrive' } as const
    // Twice, quickly: the second finds them on their way (C55).
    const [first, second] = [await redrive(access, request), await redrive(access, request)]
    expect([first.entities, second.entities]).toEqual([3, 0])
    expect(await ground.ended(run, { version: 2 })).toMatchObject({
      state: 'succeeded',
      entities: { planned: 3, done: 3, dead: 0 },
    })
    expect(await ground.queued('dead-letters')).toEqual([])
  })
})

describe('ten fan-outs at once on one queue, one of three workers killed in the middle', () => {
  it('all succeed; nothing is lost, and only what was in the dead hands is repeated', async () => {
    const specs = Array.from({ length: 10 }, (_, index) => ({
      ...{
        name: `fan-${index}`,
        schedule: cron('0 3 1 1 *'),
        onCrash: 'complete' as const,
        chunk: { size: 10, concurrency: 2 },
      },
    }))
    const keys = rows(60).map(({ id }) => id)
    await ground.setRows(keys)
    const workers = await Promise.all([1, 2, 3].map(() => ground.worker({ jobs: specs, delayMs: 10 })))
    const runs = await Promise.all(specs.map((spec) => ground.start(jobOf(spec))))
    await waitUntil(async () => (await ground.effects('effect')).length > 150, { message: 'a quarter done' })
    const [dead] = workers
    await dead?.kill()
    const entries = await Promise.all(runs.map((run) => ground.ended(run, { timeoutMs: 30_000 })))
    for (const entry of entries)
      expect(entry).toMatchObject({ state: 'succeeded', entities: { planned: 60, done: 60 } })
    const effects = await ground.effects('effect')
    const names = effects.map(({ slot, key }) => `${slot} ${key}`)
    expect(new Set(names).size).toBe(600)
    const byDead = new Set(effects.filter(({ pid }) => pid === dead?.pid).map(({ slot, key }) => `${slot} ${key}`))
    expect(repeated(names).filter((name) => !byDead.has(name))).toEqual([])
    // Four tasks in hand, two at a time in each, and what settles within settleEvery.
    expect(repeated(names).length).toBeLessThanOrEqual(40)
    await waitUntil(async () => (await ground.queued()).length === 0, { message: 'nothing on the queue' })
  })
})
