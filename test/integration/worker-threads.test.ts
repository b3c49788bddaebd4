import { cron, defineJob } from '@cronce/core'
import { listDeadLetterIdsOf, readDeadLetter } from '@cronce/store'
import { handle, inThread, type ThreadFacts } from '@cronce/worker'
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

const job = defineJob({
  name: 'render',
  schedule: cron('0 2 * * *'),
  onCrash: 'complete',
  entity: { schema: z.object({ id: z.string(), spinMs: z.number() }), key: ({ id }) => id },
  chunk: { size: 1, concurrency: 1 },
  retry: { attempts: 1 },
  timeout: '20s',
})
interface Drawing {
  readonly id: string
  readonly spinMs: number
}
type Each = (drawing: Drawing, facts: ThreadFacts) => Promise<string>

/** A module of this text, as a thread imports it. */
const moduleOf = (text: string) => new URL(`data:text/javascript,${encodeURIComponent(text)}`)
const SPIN = `
export async function each({ id, spinMs }, { slot, attempt }) {
  const end = Date.now() + spinMs
  while (Date.now() < end);
  return [slot.job, id, attempt].join(' ')
}`
const page =
  (...entities: Drawing[]) =>
  () => ({ entities, next: null })

async function letterOf(run: Awaited<ReturnType<Stage['start']>>) {
  const [id = ''] = await listDeadLetterIdsOf(stage.store, run, { offset: 0, limit: 9 })
  return await readDeadLetter(stage.store, run.job, id)
}

describe('a handler in a thread', () => {
  it('that keeps the processor for three times the lock keeps its chunk, and others go on', async () => {
    const quick = defineJob({
      name: 'quick',
      schedule: cron('0 2 * * *'),
      onCrash: 'complete',
      entity: { schema: z.string(), key: (id) => id },
    })
    const spin = inThread<Each>(moduleOf(SPIN), { threads: 1 })
    const answers: string[] = []
    let quickEnded = 0
    const options = { lock: '1s', stalledEvery: '500ms', queues: { default: 2 } }
    const handlers = [
      handle(job, {
        entities: page({ id: 'a', spinMs: 3_000 }),
        each: async (drawing, ctx) => void answers.push(await spin(drawing, ctx)),
      }),
      handle(quick, {
        entities: () => Array.from({ length: 50 }, (_, index) => `q${index}`).values(),
        each: () => {
          quickEnded += answers.length === 0 ? 1 : 0
        },
      }),
    ]
    const workers = [await stage.work(handlers, options), await stage.work(handlers, options)]
    const run = await stage.start(job)
    await waitUntil(() => workers.some(({ told }) => told('chunk.started').length > 0), {
      message: 'the chunk started',
    })
    expect(await stage.ended(await stage.start(quick))).toMatchObject({ state: 'succeeded', entities: { done: 50 } })
    expect(await stage.ended(run)).toMatchObject({ state: 'succeeded', crashes: 0, retries: 0 })
    expect(answers).toEqual(['render a 1'])
    expect(quickEnded).toBe(50)
    const troubles = workers.flatMap(({ told }) => told('queue.troubled').map(({ kind }) => kind))
    expect(troubles.filter((kind) => kind === 'stalled' || kind === 'lock-lost')).toEqual([])
  })

  it('is ended in the middle of a loop when its time is over, and the next one has a thread', async () => {
    const bounded = { ...job, timeoutMs: 700, chunk: { size: 2, concurrency: 1 } }
    const spin = inThread<Each>(moduleOf(SPIN), { threads: 1 })
    const answers: string[] = []
    await stage.work([
      handle(bounded, {
        entities: page({ id: 'for-ever', spinMs: 1e12 }, { id: 'short', spinMs: 0 }),
        each: async (drawing, ctx) => void answers.push(await spin(drawing, ctx)),
      }),
    ])
    const run = await stage.start(bounded)
    expect(await stage.ended(run)).toMatchObject({ state: 'partial', entities: { done: 1, dead: 1 } })
    expect(answers).toEqual(['render short 1'])
    expect(await letterOf(run)).toMatchObject({ entity: 'for-ever', reason: 'timeout' })
  })

  it.each([
    ['exits', `process.exit(7)`, 'the thread ended before it had answered: it exited with code 7'],
    [
      'needs more memory than it may',
      `const all = []; for (;;) all.push(new Array(1e5).fill(all.length))`,
      'ended before',
    ],
    [
      'throws what only a thread knows',
      `throw Object.assign(new RangeError('too wide'), { self: () => 1 })`,
      'too wide',
    ],
    ['is not exported', '', 'to export a function each'],
  ])('that %s fails its attempt, and its worker lives on', async (_, body, message) => {
    const text = body === '' ? 'export const other = 1' : `export function each() { ${body} }`
    const run = inThread<Each>(moduleOf(text), { threads: 1, resourceLimits: { maxOldGenerationSizeMb: 32 } })
    await stage.work([
      handle(job, {
        entities: page({ id: 'a', spinMs: 0 }),
        each: async (drawing, ctx) => void (await run(drawing, ctx)),
      }),
    ])
    const started = await stage.start(job)
    expect(await stage.ended(started)).toMatchObject({ state: 'failed', crashes: 0, entities: { dead: 1 } })
    expect((await letterOf(started))?.errors[0]?.message).toContain(message)
  })

  it('may say that another attempt would fail alike', async () => {
    const text = `export function each() { const e = new Error('closed'); e.name = 'NonRetryableError'; throw e }`
    const refuse = inThread<Each>(moduleOf(text))
    const retried = { ...job, retry: { ...job.retry, attempts: 5 } }
    await stage.work([
      handle(retried, { entities: page({ id: 'a', spinMs: 0 }), each: async (d, ctx) => void (await refuse(d, ctx)) }),
    ])
    const run = await stage.start(retried)
    expect(await stage.ended(run)).toMatchObject({ state: 'failed', retries: 0, entities: { dead: 1 } })
  })

  it('is refused where its module is no URL', () => {
    expect(() => inThread('./render.js' as never, { threads: 0 })).toThrow(
      expect.objectContaining({
        code: 'CRONCE_THREAD_INVALID',
        faults: [
          { path: 'module', message: expect.any(String) },
          { path: 'threads', message: expect.any(String) },
        ],
      }),
    )
  })
})
