import { cron, defineJob, formatDoneLetterId, slotKeyOf } from '@cronce/core'
import { readDeadLetter, readSlotEvents, redriveDeadLetters } from '@cronce/store'
import { handle, type RunSummary } from '@cronce/worker'
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
  name: 'billing',
  schedule: cron('0 2 * * *'),
  onCrash: 'complete',
  entity: { schema: z.object({ id: z.string() }), key: ({ id }) => id },
  retry: { attempts: 3, backoff: { type: 'fixed', delay: '20ms', jitter: 0 } },
})

describe('done', () => {
  it('runs once per outcome: after the run, and again when a redrive corrected its sum', async () => {
    const summaries: RunSummary[] = []
    const letters: string[][] = []
    let isBroken = true
    await stage.work([
      handle(
        { ...job, retry: { ...job.retry, attempts: 1 } },
        {
          entities: () => ({ entities: [{ id: 'a' }, { id: 'b' }], next: null }),
          each: ({ id }) => {
            if (id === 'b' && isBroken) throw new Error('broken')
          },
          done: async (summary) => {
            summaries.push(summary)
            letters.push((await summary.deadLetters()).map(({ entity = '' }) => entity))
          },
        },
      ),
    ])
    const run = await stage.start(job)
    await waitUntil(() => letters.length === 1, { message: 'done' })
    expect(summaries[0]).toMatchObject({
      slot: { key: run.slot },
      cause: 'manual',
      state: 'partial',
      version: 1,
      counts: { planned: 2, done: 1, dead: 1 },
    })
    expect(letters[0]).toEqual(['b'])
    isBroken = false
    const redriven = await redriveDeadLetters(stage.store, run, {
      ids: [`${run.slot}/b`],
      by: 'test',
      abandonedToo: false,
    })
    const chunk = {
      kind: 'chunk' as const,
      job: run.job,
      id: run.id,
      number: redriven.chunk ?? -1,
      version: job.version,
    }
    await stage.enqueuer.add(job.queue, [chunk])
    await waitUntil(() => letters.length === 2, { message: 'done of the redrive' })
    expect(summaries[1]).toMatchObject({ state: 'succeeded', version: 2, counts: { planned: 2, done: 2, dead: 0 } })
    expect((await stage.read(run)).state).toBe('succeeded')
    expect(await readDeadLetter(stage.store, job.name, `${run.slot}/b`)).toMatchObject({ state: 'resolved', lives: 1 })
  })

  it('has attempts of its own, and then a dead letter of the run', async () => {
    const attempts: number[] = []
    const { told } = await stage.work([
      handle(job, {
        entities: () => [],
        each: () => undefined,
        done: (_, ctx) => {
          attempts.push(ctx.attempt)
          throw new Error(`no ${ctx.attempt}`)
        },
      }),
    ])
    const run = await stage.start(job)
    await waitUntil(() => told('done.failed').some(({ final }) => final), { message: 'the last failure' })
    expect(attempts).toEqual([1, 2, 3])
    expect((await stage.read(run)).state).toBe('succeeded')
    const letter = await waitUntil(() => readDeadLetter(stage.store, job.name, formatDoneLetterId(run.slot)), {
      message: 'its dead letter',
    })
    expect(letter).toMatchObject({ reason: 'done', entity: undefined, attempts: 3 })
    expect(letter.errors.map(({ message }) => message)).toEqual(['no 3', 'no 2', 'no 1'])
  })
})

describe('a source', () => {
  it('that fails is read again from the page it failed at, and counts attempts of its own', async () => {
    const asked: (string | undefined)[] = []
    let failures = 0
    const { told } = await stage.work([
      handle(
        { ...job, chunk: { size: 2, concurrency: 1 } },
        {
          entities: ({ after }) => {
            asked.push(after)
            if (after === 'b' && failures < 2) {
              failures += 1
              throw new Error('no database')
            }
            return ['a', 'b', 'c', 'd']
              .filter((id) => after === undefined || id > after)
              .slice(0, 2)
              .map((id) => ({ id }))
          },
          each: () => undefined,
        },
      ),
    ])
    const entry = await stage.ended(await stage.start(job))
    expect(entry).toMatchObject({ state: 'succeeded', entities: { planned: 4, done: 4 } })
    expect(asked).toEqual([undefined, 'b', 'b', 'b', 'd'])
    expect(told('plan.failed').map(({ attempt, final }) => [attempt, final])).toEqual([
      [1, false],
      [2, false],
    ])
  })

  it('out of attempts ends the run as failed, with a dead letter of the run; what was planned before runs', async () => {
    const seen: string[] = []
    await stage.work([
      handle(job, {
        entities: ({ after }) => {
          if (after !== undefined) throw new Error('no database')
          return [{ id: 'a' }]
        },
        each: ({ id }) => void seen.push(id),
      }),
    ])
    const run = await stage.start(job)
    expect(await stage.ended(run)).toMatchObject({ state: 'partial', entities: { planned: 1, done: 1 } })
    expect(seen).toEqual(['a'])
    expect(await readDeadLetter(stage.store, job.name, run.slot)).toMatchObject({
      reason: 'plan',
      attempts: 3,
    })
  })

  it('may be an iterable, async or not, and a page may be larger than a chunk', async () => {
    const ids = Array.from({ length: 25 }, (_, index) => ({ id: `e${String(index).padStart(2, '0')}` }))
    const small = { ...job, chunk: { size: 10, concurrency: 3 } }
    let ended = 0
    const sources = [
      async function* rows() {
        try {
          yield* ids
        } finally {
          ended += 1
        }
      },
      () => new Set(ids),
      ({ after }: { after: string | undefined }) => (after === undefined ? ids : []),
    ]
    for (const [index, entities] of sources.entries()) {
      const named = { ...small, name: `many-${index}`, queue: `q${index}` }
      await stage.work([handle(named, { entities, each: () => undefined })], { queues: { [named.queue]: 2 } })
      const entry = await stage.ended(await stage.start(named))
      expect(entry).toMatchObject({ state: 'succeeded', entities: { planned: 25, done: 25, duplicates: 0 } })
    }
    expect(ended).toBe(1)
  })

  it('that never gets further is refused, not read for ever', async () => {
    await stage.work([handle(job, { entities: () => [{ id: 'a' }], each: () => undefined })])
    const run = await stage.start(job)
    expect(await stage.ended(run)).toMatchObject({ state: 'partial', entities: { planned: 1, done: 1 } })
    const letter = await readDeadLetter(stage.store, job.name, run.slot)
    expect(letter?.errors[0]?.message).toContain('expected a page that goes on beyond its cursor')
  })

  it('with more entities than may wait is read in steps, as chunks settle', async () => {
    const total = 400
    let most = 0
    let planned = 0
    let done = 0
    await stage.work(
      [
        handle(
          { ...job, chunk: { size: 10, concurrency: 10 } },
          {
            entities: ({ after, limit }) => {
              most = Math.max(most, planned - done)
              const from = after === undefined ? 0 : Number(after) + 1
              planned = Math.min(total, from + limit)
              return Array.from({ length: planned - from }, (_, index) => ({
                id: String(from + index).padStart(5, '0'),
              }))
            },
            each: () => void (done += 1),
          },
        ),
      ],
      { openChunks: 4 },
    )
    const run = await stage.start(job)
    expect(await stage.ended(run)).toMatchObject({ state: 'succeeded', entities: { planned: total, done: total } })
    expect(most).toBeLessThanOrEqual(5 * 10)
    expect((await readSlotEvents(stage.store, run.job, run.id)).map(({ event }) => event)).toContain('planned')
    expect(slotKeyOf(run)).toBe(run.slot)
  })
})
