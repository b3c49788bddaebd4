import { cron, defineJob } from '@cronce/core'
import { DEAD_LETTER_QUEUE } from '@cronce/queue'
import { type DeadLetter, listDeadLetterIdsOf, queuePrefix, readDeadLetter } from '@cronce/store'
import { handle, NonRetryableError, RetryLaterError } from '@cronce/worker'
import { Queue } from 'bullmq'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type RedisServer, startRedis, waitUntil } from '../support/index.ts'
import type { StartedRun } from '../support/start-run.ts'
import { openStage, type Stage } from '../support/worker-stage.ts'

let server: RedisServer
let stage: Stage
beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())
beforeEach(() => {
  stage = openStage(server)
})
afterEach(() => stage.close())

const job = defineJob({
  name: 'billing',
  schedule: cron('0 2 * * *'),
  onCrash: 'complete',
  entity: { schema: z.object({ id: z.string() }), key: ({ id }) => id },
  chunk: { size: 10, concurrency: 4 },
  retry: { attempts: 3, backoff: { type: 'fixed', delay: '30ms', jitter: 0 } },
  timeout: '2s',
})

/** A source of one page. */
function page(...payloads: unknown[]) {
  return () => ({ entities: payloads, next: null })
}

async function lettersOf(run: StartedRun): Promise<DeadLetter[]> {
  const ids = await listDeadLetterIdsOf(stage.store, run, { offset: 0, limit: 100 })
  const letters = await Promise.all(ids.map((id) => readDeadLetter(stage.store, run.job, id)))
  return letters.filter((letter) => letter !== undefined)
}

describe('an entity', () => {
  it('that fails is tried again, counted, and done when it succeeds', async () => {
    const attempts: [string, number][] = []
    const { told } = await stage.work([
      handle(job, {
        entities: page({ id: 'a' }, { id: 'b' }),
        each: ({ id }, ctx) => {
          attempts.push([id, ctx.attempt])
          if (id === 'a' && ctx.attempt < 3) throw new Error('not yet')
        },
      }),
    ])
    const run = await stage.start(job)
    const entry = await stage.ended(run)
    expect(entry).toMatchObject({
      state: 'succeeded',
      retries: 2,
      crashes: 0,
      entities: { planned: 2, done: 2, dead: 0 },
    })
    expect(attempts).toEqual([
      ['a', 1],
      ['b', 1],
      ['a', 2],
      ['a', 3],
    ])
    expect(told('entity.retried').map(({ attempt }) => attempt)).toEqual([1, 2])
    expect(told('chunk.started').length).toBeLessThanOrEqual(3)
    expect(await lettersOf(run)).toEqual([])
    // Of a retried entity that made it, nothing is left behind.
    expect(await stage.redis.keys('*:errors:*')).toEqual([])
  })

  it('out of attempts is a dead letter with its payload and every error, newest first, and a job on the dead-letter queue', async () => {
    await stage.work([
      handle(job, {
        entities: page({ id: 'good' }, { id: 'bad', note: 'kept' }),
        each: ({ id }, ctx) => {
          if (id === 'bad') throw new TypeError(`broken ${ctx.attempt}`)
        },
      }),
    ])
    const run = await stage.start(job)
    const entry = await stage.ended(run)
    expect(entry).toMatchObject({ state: 'partial', entities: { planned: 2, done: 1, dead: 1 } })
    const [letter, ...others] = await lettersOf(run)
    expect(others).toEqual([])
    expect(letter).toMatchObject({
      id: `${run.slot}/bad`,
      slot: run.slot,
      entity: 'bad',
      reason: 'failed',
      state: 'open',
      attempts: 3,
      lives: 1,
      worker: 'w-1',
      payload: { id: 'bad', note: 'kept' },
    })
    expect(letter?.errors.map(({ name, message, attempt }) => [name, message, attempt])).toEqual([
      ['TypeError', 'broken 3', 3],
      ['TypeError', 'broken 2', 2],
      ['TypeError', 'broken 1', 1],
    ])
    expect(letter?.errors[0]?.stack).toContain('worker-entities.test.ts')
    const queue = new Queue(DEAD_LETTER_QUEUE, {
      connection: stage.redis,
      prefix: queuePrefix(stage.service, DEAD_LETTER_QUEUE),
    })
    const view = await waitUntil(() => queue.getJob(`${run.slot}/bad`), { message: 'the view of the dead letter' })
    expect(view.data).toMatchObject({ entity: 'bad', attempts: 3 })
    expect(await queue.count()).toBe(1)
    await queue.close()
  })

  it('may throw anything: the letter says what', async () => {
    const circular: Error & { cause?: unknown } = new Error('round')
    circular.cause = circular
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    const thrown: Record<string, unknown> = {
      string: 'just text',
      nothing: undefined,
      null: null,
      circular,
      frozen: Object.freeze(new RangeError('cold')),
      revoked: proxy,
    }
    const { told } = await stage.work([
      handle(
        { ...job, retry: { ...job.retry, attempts: 1 } },
        {
          entities: page(...Object.keys(thrown).map((id) => ({ id }))),
          each: async ({ id }) => {
            await Promise.resolve()
            throw thrown[id]
          },
        },
      ),
    ])
    const run = await stage.start(job)
    expect(await stage.ended(run)).toMatchObject({ state: 'failed', entities: { done: 0, dead: 6 } })
    const letters = await lettersOf(run)
    const messages = Object.fromEntries(letters.map(({ entity, errors }) => [entity, errors[0]?.message]))
    expect(messages).toEqual({
      string: 'just text',
      nothing: 'nothing was thrown',
      null: 'null was thrown',
      circular: 'round',
      frozen: 'cold',
      revoked: 'a value that cannot be read was thrown',
    })
    expect(told('queue.troubled')).toEqual([])
  })

  it('that its schema refuses, that is too large or no JSON, is a dead letter without a retry', async () => {
    const seen: string[] = []
    const cycle: Record<string, unknown> = { id: 'cycle' }
    cycle['self'] = cycle
    await stage.work([
      handle(job, {
        entities: page(
          { id: 'ok' },
          { id: 7 },
          { id: 'big', text: 'x'.repeat(300_000) },
          cycle,
          { id: 'n', n: 1n },
          undefined,
        ),
        each: ({ id }) => void seen.push(id),
      }),
    ])
    const run = await stage.start(job)
    expect(await stage.ended(run)).toMatchObject({
      state: 'partial',
      retries: 0,
      entities: { planned: 6, done: 1, dead: 5 },
    })
    expect(seen).toEqual(['ok'])
    const letters = await lettersOf(run)
    const named = letters.filter(({ entity }) => entity?.startsWith('#') === false)
    expect(named.map(({ entity, reason }) => [entity, reason]).toSorted()).toEqual([
      ['big', 'too large'],
      ['cycle', 'invalid'],
      ['n', 'invalid'],
    ])
    const payloads = letters.map(({ payload }) => payload)
    expect(payloads).toContainEqual({ id: 7 })
    expect(payloads).toContainEqual({ id: 'n', n: '1n' })
    expect(payloads).toContainEqual({ id: 'cycle', self: '(circular)' })
  })

  it('whose handler never ends is timed out, its signal fires, and it frees its place (C60)', async () => {
    const signals: AbortSignal[] = []
    const late: (() => void)[] = []
    const quick = { ...job, timeoutMs: 150, chunk: { size: 10, concurrency: 2 }, retry: { ...job.retry, attempts: 1 } }
    await stage.work([
      handle(quick, {
        entities: page({ id: 'hung-1' }, { id: 'hung-2' }, { id: 'third' }),
        each: async ({ id }, ctx) => {
          if (!id.startsWith('hung')) return
          signals.push(ctx.signal)
          await new Promise<void>((_, reject) => late.push(() => reject(new Error('late'))))
        },
      }),
    ])
    const run = await stage.start(quick)
    expect(await stage.ended(run)).toMatchObject({ state: 'partial', entities: { done: 1, dead: 2 } })
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true])
    // What settles late changes nothing and is no unhandled rejection.
    for (const settle of late) settle()
    const letters = await lettersOf(run)
    expect(letters.map(({ reason, errors }) => [reason, errors[0]?.message])).toContainEqual([
      'timeout',
      'entity "hung-1" did not finish within 150 ms',
    ])
    expect(letters).toHaveLength(2)
    expect((await stage.read(run)).entities.done).toBe(1)
  })

  it('may say that no attempt will help, or that it is too early', async () => {
    const attempts: [string, number][] = []
    await stage.work([
      handle(
        { ...job, retry: { ...job.retry, attempts: 2 } },
        {
          entities: page({ id: 'never' }, { id: 'later' }),
          each: ({ id }, ctx) => {
            attempts.push([id, ctx.attempt])
            if (id === 'never') throw new NonRetryableError('closed')
            if (attempts.filter(([name]) => name === 'later').length < 4) throw new RetryLaterError({ after: '20ms' })
          },
        },
      ),
    ])
    const run = await stage.start(job)
    expect(await stage.ended(run)).toMatchObject({ state: 'partial', entities: { done: 1, dead: 1 } })
    expect(attempts.filter(([id]) => id === 'never')).toEqual([['never', 1]])
    expect(attempts.filter(([id]) => id === 'later')).toEqual(
      // Promise 5: each start has its own number, although two attempts are allowed.
      [1, 2, 3, 4].map((attempt) => ['later', attempt]),
    )
    expect(await lettersOf(run)).toMatchObject([{ entity: 'never', attempts: 1, reason: 'failed' }])
  })

  it('that asks for later again and again is a dead letter once the run is overdue', async () => {
    const overdue = { ...job, tolerance: { startMs: 100, finishMs: 2_500 }, timeoutMs: 2_000 }
    let starts = 0
    await stage.work([
      handle(overdue, {
        entities: page({ id: 'busy' }),
        each: () => {
          starts += 1
          throw new RetryLaterError({ after: '60ms', message: 'rate limit' })
        },
      }),
    ])
    const run = await stage.start(overdue)
    expect(await stage.ended(run)).toMatchObject({ state: 'failed', entities: { dead: 1 } })
    // More than the three that are allowed: those within the tolerance used up none.
    expect(starts).toBeGreaterThan(4)
    const [letter] = await lettersOf(run)
    expect(letter).toMatchObject({ reason: 'failed', attempts: starts })
    const numbers = letter?.errors.map(({ attempt }) => attempt)
    expect(numbers).toEqual(Array.from({ length: starts }, (_, index) => starts - index))
  })

  it('that a plan has twice is one entity', async () => {
    const seen: string[] = []
    await stage.work([
      handle(job, {
        entities: ({ after }) =>
          after === undefined
            ? { entities: [{ id: 'a' }, { id: 'b' }, { id: 'a' }], next: 'two' }
            : { entities: [{ id: 'b' }, { id: 'c' }], next: null },
        each: ({ id }) => void seen.push(id),
      }),
    ])
    const entry = await stage.ended(await stage.start(job))
    expect(entry.entities).toEqual({ planned: 3, done: 3, dead: 0, abandoned: 0, skipped: 0, duplicates: 2 })
    expect(seen.toSorted()).toEqual(['a', 'b', 'c'])
  })
})
