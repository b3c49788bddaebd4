import { cron, defineJob, formatSlotId } from '@cronce/core'
import {
  claimManual,
  listDeadLetterIdsOf,
  readDeadLetter,
  registerJob,
  settleChunk,
  startChunk,
  startPlan,
  writePage,
} from '@cronce/store'
import { handle, RetryLaterError } from '@cronce/worker'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type RedisServer, startRedis, waitUntil } from '../support/index.ts'
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

const complete = defineJob({
  name: 'billing',
  schedule: cron('0 2 * * *'),
  onCrash: 'complete',
  entity: { schema: z.string(), key: (id) => id },
  chunk: { size: 5, concurrency: 2 },
  retry: { attempts: 2, backoff: { type: 'fixed', delay: '20ms', jitter: 0 } },
  timeout: '2s',
})
const skip = { ...complete, onCrash: 'skip' as const }

const IDS = ['a', 'b', 'c', 'd', 'e']
const page =
  (...payloads: unknown[]) =>
  () => ({ entities: payloads, next: null })
const never = () => new Promise<void>(() => undefined)

describe('eachChunk', () => {
  it('gets the validated entities of a chunk in one call, and their outcomes are written together', async () => {
    const calls: (readonly string[])[] = []
    const { told } = await stage.work([
      handle(complete, {
        entities: async function* () {
          yield* [...IDS, 'f', 7, 'g']
        },
        eachChunk: (ids, ctx) => {
          expect(ctx.slot.job).toBe('billing')
          expect(ctx.idempotencyKey('a', 'mail')).toMatch(/\/a\/mail$/)
          calls.push(ids)
        },
      }),
    ])
    const entry = await stage.ended(await stage.start(complete))
    expect(entry).toMatchObject({ state: 'partial', entities: { planned: 8, done: 7, dead: 1 }, retries: 0 })
    expect(calls.toSorted((a, b) => b.length - a.length)).toEqual([IDS, ['f', 'g']])
    await expect.poll(() => told('chunk.settled').map(({ done }) => done)).toEqual(expect.arrayContaining([5, 2]))
    expect(told('chunk.fell-back')).toEqual([])
  })

  it('that throws is followed by each, one by one, and only the bad entity is a dead letter', async () => {
    const starts: [string, number][] = []
    const { told } = await stage.work([
      handle(complete, {
        entities: page(...IDS),
        eachChunk: (ids) => {
          throw new Error(`cannot insert ${ids.length}`)
        },
        each: (id, ctx) => {
          starts.push([id, ctx.attempt])
          if (id === 'c') throw new Error('bad')
        },
      }),
    ])
    const run = await stage.start(complete)
    expect(await stage.ended(run)).toMatchObject({ state: 'partial', entities: { done: 4, dead: 1 }, retries: 1 })
    expect(told('chunk.fell-back')).toMatchObject([{ chunk: 0, entities: 5, error: { message: 'cannot insert 5' } }])
    expect(starts.toSorted()).toEqual([
      ['a', 1],
      ['b', 1],
      ['c', 1],
      ['c', 2],
      ['d', 1],
      ['e', 1],
    ])
    const [id = ''] = await listDeadLetterIdsOf(stage.store, run, { offset: 0, limit: 9 })
    expect(await readDeadLetter(stage.store, run.job, id)).toMatchObject({ entity: 'c', attempts: 2 })
  })

  it('stands in for each where there is none, with one entity', async () => {
    const calls: string[] = []
    await stage.work([
      handle(complete, {
        entities: page(...IDS),
        eachChunk: (ids, ctx) => {
          calls.push(ids.join(''))
          if (ids.includes('c')) throw new Error('bad')
          return ctx.signal.aborted
        },
      }),
    ])
    const entry = await stage.ended(await stage.start(complete))
    expect(entry).toMatchObject({ state: 'partial', entities: { done: 4, dead: 1 } })
    expect(calls[0]).toBe('abcde')
    expect(calls.slice(1).toSorted()).toEqual(['a', 'b', 'c', 'c', 'd', 'e'])
  })

  it('that takes too long is aborted and followed by each', async () => {
    const quick = { ...complete, timeoutMs: 150 }
    const signals: AbortSignal[] = []
    const seen: string[] = []
    const { told } = await stage.work([
      handle(quick, {
        entities: page(...IDS),
        eachChunk: (_, ctx) => {
          signals.push(ctx.signal)
          return never()
        },
        each: (id) => void seen.push(id),
      }),
    ])
    expect(await stage.ended(await stage.start(quick))).toMatchObject({ state: 'succeeded', entities: { done: 5 } })
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
    expect(seen).toEqual(IDS)
    expect(told('chunk.fell-back')).toMatchObject([{ error: { message: '`eachChunk` did not finish within 150 ms' } }])
  })

  it('that asks for later is called again with all of them, and uses up no attempt', async () => {
    let calls = 0
    await stage.work([
      handle(complete, {
        entities: page(...IDS),
        eachChunk: () => {
          calls += 1
          if (calls < 5) throw new RetryLaterError({ after: '20ms' })
        },
        each: () => expect.unreachable(),
      }),
    ])
    expect(await stage.ended(await stage.start(complete))).toMatchObject({ state: 'succeeded', entities: { done: 5 } })
    expect(calls).toBe(5)
  })

  it('that shutdown aborts is handed back whole, without using up an attempt', async () => {
    const first = await stage.work([handle(complete, { entities: page(...IDS), eachChunk: () => never() })], {
      shutdownTimeout: '50ms',
      abortGrace: '20ms',
    })
    const run = await stage.start(complete)
    await waitUntil(() => first.told('chunk.started').length > 0, { message: 'the chunk started' })
    await first.worker.stop()
    const calls: (readonly string[])[] = []
    await stage.work([handle(complete, { entities: page(), eachChunk: (ids) => void calls.push(ids) })])
    expect(await stage.ended(run)).toMatchObject({ state: 'succeeded', crashes: 0, retries: 0 })
    expect(calls).toEqual([IDS])
  })
})

describe('promise 5, eachChunk of a job that must not repeat', () => {
  it('is called behind a mark of every entity, and what fails starts again under the next number', async () => {
    const states: unknown[] = []
    const starts: [string, number][] = []
    await stage.work([
      handle(skip, {
        entities: page(...IDS),
        eachChunk: async (_, ctx) => {
          const key = (await stage.redis.keys(`*:chunk:${ctx.slot.key.slice('billing@'.length)}:0`))[0] ?? ''
          states.push(await stage.redis.hget(key, 'states'))
          throw new Error('half done')
        },
        each: (id, ctx) => void starts.push([id, ctx.attempt]),
      }),
    ])
    expect(await stage.ended(await stage.start(skip))).toMatchObject({ state: 'succeeded', entities: { done: 5 } })
    expect(states).toEqual(['sssss'])
    expect(starts.toSorted()).toEqual(IDS.map((id) => [id, 2]))
  })

  it('abandons all of them where it times out: nobody knows what happened', async () => {
    const quick = { ...skip, timeoutMs: 100 }
    await stage.work([
      handle(quick, { entities: page(...IDS), eachChunk: () => never(), each: () => expect.unreachable() }),
    ])
    expect(await stage.ended(await stage.start(quick))).toMatchObject({
      state: 'abandoned',
      entities: { abandoned: 5 },
    })
  })
})

describe('after a worker died in eachChunk', () => {
  const DEAD = { worker: 'dead', release: 'test' }

  /** A run whose worker began with every entity of its one chunk, and is no more. */
  async function diedInTheCall(of: typeof complete | typeof skip) {
    await registerJob(stage.store, of, { by: 'test' })
    const at = Date.UTC(2026, 7, 25, 2)
    const claim = { at, token: 't', leaseMs: 10_000, by: 'test', release: 'test', instant: formatSlotId(at) }
    const { id } = await claimManual(stage.store, of.name, claim)
    const run = { job: of.name, id }
    const plan = await startPlan(stage.store, run, { ...DEAD, at, hasDone: false, mostOpenChunks: 10 })
    const members = IDS.map((key) => ({ key, payload: JSON.stringify(key) }))
    await writePage(stage.store, run, { fence: plan.fence, after: '', next: 'end', last: true, members })
    const { fence } = await startChunk(stage.store, run, { number: 0, worker: DEAD.worker, token: 'dead' })
    if (of.onCrash === 'skip') {
      const nothing = { done: [], failures: [], alone: false, handBack: false }
      await settleChunk(stage.store, run, { ...DEAD, ...nothing, number: 0, fence, started: [0, 1, 2, 3, 4] })
    }
    return run
  }
  const add = (run: Awaited<ReturnType<typeof diedInTheCall>>) =>
    stage.enqueuer.add('default', [{ ...run, kind: 'chunk', number: 0, version: 1 }])

  it('of a job that must complete, they are worked on one by one (W6)', async () => {
    const run = await diedInTheCall(complete)
    const calls: string[] = []
    await stage.work([handle(complete, { entities: page(), eachChunk: (ids) => void calls.push(ids.join('')) })])
    await add(run)
    expect(await stage.ended(run)).toMatchObject({ state: 'succeeded', crashes: 1, entities: { done: 5 } })
    expect(calls).toEqual(IDS)
  })

  it('of a job that must not repeat, all of them are abandoned (W5)', async () => {
    const run = await diedInTheCall(skip)
    await stage.work([handle(skip, { entities: page(), eachChunk: () => expect.unreachable() })])
    await add(run)
    expect(await stage.ended(run)).toMatchObject({ state: 'abandoned', entities: { abandoned: 5 } })
  })
})
