import { cron, defineJob, formatSlotId } from '@cronce/core'
import { claimManual, readDeadLetter, registerJob, settleChunk, startChunk, startPlan, writePage } from '@cronce/store'
import { handle } from '@cronce/worker'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type RedisServer, startRedis, takeTime, waitUntil } from '../support/index.ts'
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
  retry: { attempts: 2, backoff: { type: 'fixed', delay: '20ms', jitter: 0 } },
})

const DEAD = { worker: 'dead', release: 'test' }
const IDS = ['a', 'b', 'c', 'd']

/** A run of one chunk whose plan was written by a worker that is no more. */
async function plannedRun(of: typeof job) {
  await registerJob(stage.store, of, { by: 'test' })
  const at = Date.UTC(2026, 7, 25, 2)
  const claim = { at, token: 't', leaseMs: 10_000, by: 'test', release: 'test', instant: formatSlotId(at) }
  const { id } = await claimManual(stage.store, of.name, claim)
  const run = { job: of.name, id }
  const { fence } = await startPlan(stage.store, run, { ...DEAD, at, hasDone: false, mostOpenChunks: 10 })
  const members = IDS.map((key) => ({ key, payload: JSON.stringify({ id: key }) }))
  await writePage(stage.store, run, { fence, after: '', next: 'end', last: true, members })
  return run
}

type PlannedRun = Awaited<ReturnType<typeof plannedRun>>

/** A worker takes the chunk, writes this much, and dies. */
async function die(
  run: PlannedRun,
  marks: { done?: number[]; started?: number[]; alone?: boolean } = {},
): Promise<void> {
  const { fence } = await startChunk(stage.store, run, { number: 0, worker: DEAD.worker, token: crypto.randomUUID() })
  const { done = [], started = [], alone = false } = marks
  await settleChunk(stage.store, run, {
    ...DEAD,
    number: 0,
    fence,
    done,
    started,
    alone,
    failures: [],
    handBack: false,
  })
}

async function addChunk(run: PlannedRun): Promise<void> {
  await stage.enqueuer.add(job.queue, [{ ...run, kind: 'chunk', number: 0, version: 1 }])
}

const slotOf = (run: PlannedRun) => `billing@${run.id}`

describe('after a worker died in the middle of a chunk', () => {
  it('of more entities than run at once, each is marked before its start, and those marked before run last, alone (W6)', async () => {
    const wide = { ...job, chunk: { size: 10, concurrency: 2 } }
    const run = await plannedRun(wide)
    await die(run, { started: [1] })
    const key = `cronce:{${stage.service}:job:billing}:chunk:${run.id}:0`
    const running = new Set<string>()
    const starts: { id: string; beside: number; mark: string | undefined; alone: string }[] = []
    await stage.work([
      handle(wide, {
        entities: () => [],
        each: async ({ id }) => {
          const beside = running.size
          running.add(id)
          const [states, alone] = await stage.redis.hmget(key, 'states', 'alone')
          starts.push({ id, beside, mark: states?.[IDS.indexOf(id)], alone: alone ?? '' })
          await takeTime(20)
          running.delete(id)
        },
      }),
    ])
    await addChunk(run)
    expect(await stage.ended(run)).toMatchObject({ state: 'succeeded', entities: { done: 4 } })
    expect(starts.map(({ id }) => id)).toEqual(['a', 'c', 'd', 'b'])
    expect(starts.map(({ mark }) => mark)).toEqual(['s', 's', 's', 's'])
    expect(starts[1]).toMatchObject({ beside: 1, alone: '' })
    expect(starts[3]).toMatchObject({ beside: 0, alone: '1' })
  })

  it('a worker that stops in the middle of the rest makes no suspects: the next one runs them beside each other (W6, W9)', async () => {
    const wide = { ...job, chunk: { size: 10, concurrency: 2 } }
    const run = await plannedRun(wide)
    await die(run)
    const key = `cronce:{${stage.service}:job:billing}:chunk:${run.id}:0`
    const stuck = await stage.work(
      [
        handle(wide, {
          entities: () => [],
          each: (_, ctx) =>
            new Promise((_resolve, reject) => {
              ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason))
            }),
        }),
      ],
      { shutdownTimeout: 50 },
    )
    await addChunk(run)
    await waitUntil(async () => (await stage.redis.hget(key, 'states')) === 'ss..', { message: 'two are under way' })
    await stuck.worker.stop()
    expect(await stage.redis.hmget(key, 'states', 'left', 'alone')).toEqual(['rr..', '4', ''])
    const beside: number[] = []
    const running = new Set<string>()
    await stage.work([
      handle(wide, {
        entities: () => [],
        each: async ({ id }) => {
          beside.push(running.size)
          running.add(id)
          await takeTime(20)
          running.delete(id)
        },
      }),
    ])
    await addChunk(run)
    expect(await stage.ended(run)).toMatchObject({ state: 'succeeded', crashes: 1, retries: 0, entities: { done: 4 } })
    expect(beside).toEqual([0, 1, expect.any(Number), expect.any(Number)])
  })

  it('of a job that must complete, the rest runs alone, one at a time; what was done is not repeated', async () => {
    const run = await plannedRun(job)
    await die(run, { done: [1] })
    let running = 0
    let most = 0
    const seen: string[] = []
    const { told } = await stage.work([
      handle(job, {
        entities: () => [],
        each: async ({ id }) => {
          running += 1
          most = Math.max(most, running)
          seen.push(id)
          await takeTime(10)
          running -= 1
        },
      }),
    ])
    await addChunk(run)
    expect(await stage.ended(run)).toMatchObject({ state: 'succeeded', crashes: 1, entities: { done: 4 } })
    expect(seen).toEqual(['a', 'c', 'd'])
    expect(most).toBe(1)
    expect(told('chunk.crashed')).toMatchObject([{ chunk: 0, crashes: 1 }])
  })

  it('the entity that took its worker down twice alone is a dead letter, and its mates finish (W6)', async () => {
    const run = await plannedRun(job)
    await die(run)
    await die(run, { started: [2], alone: true })
    await die(run, { started: [2], alone: true })
    const seen: string[] = []
    await stage.work([handle(job, { entities: () => [], each: ({ id }) => void seen.push(id) })])
    await addChunk(run)
    expect(await stage.ended(run)).toMatchObject({ state: 'partial', entities: { done: 3, dead: 1 } })
    expect(seen).toEqual(['a', 'b', 'd'])
    const letter = await readDeadLetter(stage.store, job.name, `${slotOf(run)}/c`)
    expect(letter).toMatchObject({ reason: 'crashed', attempts: 0, payload: { id: 'c' } })
  })

  it('of a job that may not be repeated, what was started is abandoned and what was not runs (W5)', async () => {
    const skip = { ...job, onCrash: 'skip' as const }
    const run = await plannedRun(skip)
    await die(run, { done: [0], started: [1, 2] })
    const seen: string[] = []
    await stage.work([handle(skip, { entities: () => [], each: ({ id }) => void seen.push(id) })])
    await addChunk(run)
    expect(await stage.ended(run)).toMatchObject({ state: 'partial', entities: { done: 2, dead: 0, abandoned: 2 } })
    expect(seen).toEqual(['d'])
    const letter = await readDeadLetter(stage.store, job.name, `${slotOf(run)}/b`)
    expect(letter).toMatchObject({ reason: 'abandoned', attempts: 1 })
  })

  it('a durable mark is written before every handler of a job that may not be repeated (W5)', async () => {
    const skip = { ...job, onCrash: 'skip' as const, chunk: { size: 10, concurrency: 2 } }
    const run = await plannedRun(skip)
    const marks: [string, string | undefined][] = []
    await stage.work([
      handle(skip, {
        entities: () => [],
        each: async ({ id }) => {
          const [states] = await stage.redis.hmget(`cronce:{${stage.service}:job:billing}:chunk:${run.id}:0`, 'states')
          marks.push([id, states?.[IDS.indexOf(id)]])
        },
      }),
    ])
    await addChunk(run)
    expect(await stage.ended(run)).toMatchObject({ state: 'succeeded', entities: { done: 4 } })
    expect(marks).toEqual(IDS.map((id) => [id, 's']))
  })
})

describe('a worker that lost its chunk (promise 7)', () => {
  it('starts nothing further, settles nothing, and fires every signal', async () => {
    const run = await plannedRun(job)
    const seen: string[] = []
    const aborted: string[] = []
    const refusals: unknown[] = []
    let loseIt = (): void => undefined
    const lost = new Promise<void>((resolve) => {
      loseIt = resolve
    })
    const { told } = await stage.work([
      handle(
        { ...job, chunk: { size: 10, concurrency: 2 } },
        {
          entities: () => [],
          each: async ({ id }, ctx) => {
            seen.push(id)
            ctx.signal.addEventListener('abort', () => aborted.push(id))
            if (id === 'a') {
              await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
              return
            }
            await lost
            await ctx.once('late', () => void seen.push('late effect')).catch((error: unknown) => refusals.push(error))
          },
        },
      ),
    ])
    await addChunk(run)
    await waitUntil(() => seen.length === 2, { message: 'two handlers' })
    await startChunk(stage.store, run, { number: 0, worker: 'newer', token: 'newer' })
    loseIt()
    await waitUntil(() => told('chunk.fenced-off').length === 1, { message: 'fenced off' })
    await waitUntil(() => refusals.length === 1, { message: 'the refusal of the late effect' })
    expect(refusals).toMatchObject([{ code: 'CRONCE_FENCED_OFF' }])
    expect(seen).toEqual(['a', 'b'])
    expect(aborted).toEqual(['a', 'b'])
    expect(await stage.read(run)).toMatchObject({ state: 'running', entities: { done: 0, dead: 0 } })
    expect(await stage.enqueuer.depth('default')).toEqual({ waiting: 0, active: 0, delayed: 0 })
  })
})
