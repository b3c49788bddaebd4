import { cron, defineJob } from '@cronce/core'
import { pgAdapter } from '@cronce/store/postgres'
import { type ChunkContext, type EntityContext, handle } from '@cronce/worker'
import type { Pool } from 'pg'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { z } from 'zod'
import { describeNeeding, type PostgresServer, type RedisServer, waitUntil } from '../support/index.ts'
import { standOnReceipts } from '../support/receipts-ground.ts'
import { openStage, type Stage } from '../support/worker-stage.ts'

const job = defineJob({
  ...{ name: 'invoices', schedule: cron('0 2 * * *'), onCrash: 'complete', timeout: '5s' },
  entity: { schema: z.string(), key: (id) => id },
  chunk: { size: 10, concurrency: 5 },
  retry: { attempts: 2, backoff: { type: 'fixed', delay: '20ms', jitter: 0 } },
})
const KEYS = Array.from({ length: 30 }, (_, index) => `e${String(index).padStart(2, '0')}`)
const entities = async function* () {
  yield* KEYS
}

describeNeeding(['postgres'], 'promise 6, eachChunk with ctx.transaction', () => {
  let redis: RedisServer
  let server: PostgresServer
  let pool: Pool
  let stage: Stage
  standOnReceipts('what text not null unique, xact text not null, at serial', (ready) => {
    ;({ redis, postgres: server, pool } = ready)
  })
  beforeEach(async () => {
    stage = openStage(redis)
  })
  afterEach(() => stage.close())

  const withPostgres = () => ({ receipts: { postgres: pgAdapter(pool) } })
  const INSERT = 'insert into effect (what, xact) select unnest($1::text[]), pg_current_xact_id()::text'
  const writeAll = (ctx: ChunkContext<string>) => ctx.transaction('charge', (tx, keys) => tx.query(INSERT, [[...keys]]))
  const writeOne = (key: string, ctx: EntityContext) => ctx.transaction('charge', (tx) => tx.query(INSERT, [[key]]))
  const happened = async () =>
    (await pool.query<{ what: string; xact: string }>('select * from effect order by what')).rows

  it('writes the effects of a chunk and a receipt of each entity in one transaction', async () => {
    const outcomes: unknown[] = []
    await stage.work(
      [handle(job, { entities, eachChunk: async (_, ctx) => void outcomes.push(await writeAll(ctx)) })],
      withPostgres(),
    )
    const run = await stage.start(job)
    expect(await stage.ended(run)).toMatchObject({ state: 'succeeded', entities: { done: 30 } })
    expect(outcomes).toEqual(Array.from({ length: 3 }, () => ({ done: 10, skipped: 0 })))
    const rows = await happened()
    expect(rows.map(({ what }) => what)).toEqual(KEYS)
    expect(new Set(rows.map(({ xact }) => xact)).size).toBe(3)
    const receipts = await pool.query(
      'select 1 from cronce.receipt where service = $1 and slot = $2 and done_at is not null',
      [stage.service, run.slot],
    )
    expect(receipts.rows).toHaveLength(30)
  })

  it('inside another of the same call does not wait for it: both are had, once', async () => {
    await stage.work(
      [
        handle(job, {
          entities,
          eachChunk: (_, ctx) =>
            ctx.transaction('charge', async (tx, keys) => {
              await tx.query(INSERT, [keys.map((key) => `charge ${key}`)])
              await ctx.transaction('mail', (inner, same) => inner.query(INSERT, [same.map((key) => `mail ${key}`)]))
            }),
        }),
      ],
      withPostgres(),
    )
    expect(await stage.ended(await stage.start(job))).toMatchObject({ state: 'succeeded', entities: { done: 30 } })
    const rows = await happened()
    expect(rows.map(({ what }) => what)).toEqual(
      ['charge', 'mail'].flatMap((what) => KEYS.map((key) => `${what} ${key}`)),
    )
  })

  it('works through two adapters of one pool with statements of their own names', async () => {
    const named = () => ({ receipts: { postgres: pgAdapter(pool, { statements: 'named' }) } })
    const handlers = [handle(job, { entities, eachChunk: async (_, ctx) => void (await writeAll(ctx)) })]
    await stage.work(handlers, named())
    await stage.work(handlers, named())
    const other = pgAdapter(pool, { statements: 'named' })
    await other.query('select $1::text as first', ['another statement'])
    expect(await stage.ended(await stage.start(job))).toMatchObject({
      state: 'succeeded',
      retries: 0,
      entities: { done: 30 },
    })
    expect((await happened()).map(({ what }) => what)).toEqual(KEYS)
  })

  it('that throws after its effects has had none of them: each has them, once', async () => {
    await stage.work(
      [
        handle(job, {
          entities,
          eachChunk: (_, ctx) =>
            ctx.transaction('charge', async (tx, keys) => {
              await tx.query(INSERT, [[...keys]])
              if (keys.includes('e13')) throw new Error('one of them is bad')
            }),
          each: async (key, ctx) => {
            if (key === 'e13') throw new Error('this one')
            await writeOne(key, ctx)
          },
        }),
      ],
      withPostgres(),
    )
    expect(await stage.ended(await stage.start(job))).toMatchObject({
      state: 'partial',
      entities: { done: 29, dead: 1 },
    })
    const rows = await happened()
    expect(rows.map(({ what }) => what)).toEqual(KEYS.filter((key) => key !== 'e13'))
    expect(new Set(rows.map(({ xact }) => xact)).size).toBe(2 + 9)
  })

  it('is given the entities without a receipt only, and is not called where each has one', async () => {
    const asked: (readonly string[])[] = []
    let calls = 0
    const { told } = await stage.work(
      [
        handle(job, {
          entities: () => ({ entities: KEYS.slice(0, 10), next: null }),
          eachChunk: async (_, ctx) => {
            calls += 1
            await ctx.transaction('charge', async (tx, keys) => {
              asked.push(keys)
              await tx.query(INSERT, [[...keys]])
            })
            // After the commit: the effects stand.
            if (calls === 1) throw new Error('after the effects')
          },
          each: async (key, ctx) => void (await writeOne(key, ctx)),
        }),
      ],
      withPostgres(),
    )
    expect(await stage.ended(await stage.start(job))).toMatchObject({ state: 'succeeded', entities: { done: 10 } })
    expect(asked).toEqual([KEYS.slice(0, 10)])
    expect(told('receipt.hit')).toHaveLength(10)
    expect(await happened()).toHaveLength(10)
  })

  it('skips what of it happened before, and has the rest, in one call (R2)', async () => {
    let first = true
    const asked: number[] = []
    await stage.work(
      [
        handle(job, {
          entities: () => ({ entities: KEYS.slice(0, 10), next: null }),
          eachChunk: async (keys, ctx) => {
            if (first) {
              first = false
              await ctx.transaction('charge', (tx) => tx.query(INSERT, [keys.slice(0, 1)]))
              return
            }
            throw new Error('unreachable')
          },
        }),
      ],
      withPostgres(),
    )
    const at = Date.UTC(2026, 7, 25, 2)
    const { startedAt = 0 } = await stage.ended(await stage.start(job, { at }))
    await waitUntil(
      async () =>
        (await pool.query("select 1 from cronce.chunk where service = $1 and state = 'closed'", [stage.service])).rows
          .length === 1,
      { message: 'the chunk closed' },
    )
    // Half of the receipts are gone, and Redis has lost everything: the same slot runs again.
    await pool.query('delete from cronce.receipt where service = $1 and entity >= $2', [stage.service, 'e05'])
    await stage.redis.flushall()
    // Fences of a run that starts anew are newer from the next second on.
    await waitUntil(() => new Date().getTime() >= startedAt + 1_000, { message: 'another second' })
    const { told } = await stage.work(
      [
        handle(
          { ...job, queue: 'again' },
          {
            entities: () => ({ entities: KEYS.slice(0, 10), next: null }),
            eachChunk: async (_, ctx) => {
              await ctx.transaction('charge', async (tx, keys) => {
                asked.push(keys.length)
                await tx.query(INSERT, [keys.map((key) => `again ${key}`)])
              })
            },
          },
        ),
      ],
      { ...withPostgres(), queues: { again: 1 } },
    )
    const run = await stage.start({ ...job, queue: 'again' }, { at })
    expect(await stage.ended(run)).toMatchObject({ state: 'succeeded', entities: { done: 10 } })
    expect(told('chunk.fell-back')).toEqual([])
    expect(asked).toEqual([5])
    expect((await happened()).filter(({ what }) => what.startsWith('again'))).toHaveLength(5)
  })

  it('outlasts an outage of Postgres without using up an attempt, and nothing doubles', async () => {
    let outage: Promise<void> | undefined
    let calls = 0
    await stage.work(
      [
        handle(job, {
          entities,
          eachChunk: async (_, ctx) => {
            calls += 1
            if (calls === 2) outage = server.kill().then(() => server.restart())
            await writeAll(ctx)
          },
          each: async (key, ctx) => void (await writeOne(key, ctx)),
        }),
      ],
      withPostgres(),
    )
    const ended = await stage.ended(await stage.start(job), { timeoutMs: 40_000 })
    await outage
    expect(ended).toMatchObject({ state: 'succeeded', entities: { planned: 30, done: 30, dead: 0 } })
    expect((await happened()).map(({ what }) => what)).toEqual(KEYS)
  })
})
