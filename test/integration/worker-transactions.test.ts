import { cron, defineJob, type JobSettings } from '@cronce/core'
import { pgAdapter } from '@cronce/store/postgres'
import { type EntityContext, handle } from '@cronce/worker'
import type { Pool } from 'pg'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { z } from 'zod'
import { describeNeeding, type PostgresServer, type RedisServer, waitUntil } from '../support/index.ts'
import { standOnReceipts } from '../support/receipts-ground.ts'
import { openStage, type Stage } from '../support/worker-stage.ts'

const once = { type: 'fixed', delay: '20ms', jitter: 0 } as const
const single = defineJob({
  ...{ name: 'billing', schedule: cron('0 2 * * *'), onCrash: 'complete', timeout: '5s' },
  retry: { attempts: 3, backoff: once },
})
const many = defineJob({
  ...{ name: 'invoices', schedule: cron('0 2 * * *'), onCrash: 'complete', timeout: '5s' },
  entity: { schema: z.string(), key: (id) => id },
  chunk: { size: 10, concurrency: 5 },
  retry: { attempts: 1, backoff: once },
})
const KEYS = Array.from({ length: 30 }, (_, index) => `e${String(index).padStart(2, '0')}`)
const entities = async function* () {
  yield* KEYS
}

describeNeeding(['postgres'], 'promise 6, a handler with ctx.transaction', () => {
  let redis: RedisServer
  let server: PostgresServer
  let pool: Pool
  let stage: Stage
  standOnReceipts('what text not null, at serial', (ready) => {
    ;({ redis, postgres: server, pool } = ready)
  })
  beforeEach(async () => {
    stage = openStage(redis)
  })
  afterEach(() => stage.close())

  const withPostgres = () => ({ receipts: { postgres: pgAdapter(pool) } })
  const write = (ctx: EntityContext, what: string) =>
    ctx.transaction('charge', (tx) => tx.query('insert into effect (what) values ($1)', [what]))
  const happened = async (): Promise<string[]> => {
    const { rows } = await pool.query<{ what: string }>('select what from effect order by what')
    return rows.map(({ what }) => what)
  }
  const chunkStates = async (job: JobSettings): Promise<string[]> => {
    const text = 'select state from cronce.chunk where service = $1 and slot like $2'
    const { rows } = await pool.query<{ state: string }>(text, [stage.service, `${job.name}@%`])
    return rows.map(({ state }) => state)
  }

  it('has its effect once over all attempts, and its chunk is closed after the settlement (R3)', async () => {
    const answers: string[] = []
    const { told } = await stage.work(
      [
        handle(single, {
          each: async (_, ctx) => {
            answers.push((await write(ctx, 'single')).status)
            if (ctx.attempt < 3) throw new Error('after the effect')
          },
        }),
      ],
      withPostgres(),
    )
    expect(await stage.ended(await stage.start(single))).toMatchObject({ state: 'succeeded', retries: 2 })
    expect(answers).toEqual(['done', 'skipped', 'skipped'])
    expect(await happened()).toEqual(['single'])
    expect(told('receipt.hit')).toHaveLength(2)
    await waitUntil(async () => (await chunkStates(single)).join() === 'closed', { message: 'the chunk closed' })
  })

  it('keeps the receipts of ctx.once in Postgres as well', async () => {
    const answers: string[] = []
    await stage.work(
      [
        handle(single, {
          each: async (_, ctx) => {
            answers.push(await ctx.once('mail', () => undefined))
            answers.push((await ctx.transaction('mail', () => undefined)).status)
          },
        }),
      ],
      withPostgres(),
    )
    const run = await stage.start(single)
    await stage.ended(run)
    expect(answers).toEqual(['done', 'skipped'])
    const { rows } = await pool.query('select entity, effect from cronce.receipt where slot = $1 and service = $2', [
      run.slot,
      stage.service,
    ])
    expect(rows).toEqual([{ entity: '-', effect: 'mail' }])
  })

  it('is told where the worker has no Postgres', async () => {
    let thrown: unknown
    const each = (_: undefined, ctx: EntityContext) =>
      write(ctx, 'never').catch((error: unknown) => {
        thrown = error
      })
    await stage.work([handle(single, { each })])
    await stage.ended(await stage.start(single))
    expect(thrown).toMatchObject({ code: 'CRONCE_TRANSACTION_UNSET' })
  })

  it('commits nothing once its attempt is over: the next one has the effect, once', async () => {
    const quick = { ...single, timeoutMs: 200 }
    let attempts = 0
    await stage.work(
      [
        handle(quick, {
          each: (_, ctx) =>
            ctx.transaction('charge', async (tx) => {
              attempts += 1
              await tx.query('insert into effect (what) values ($1)', [`attempt ${ctx.attempt}`])
              // Does not heed its signal.
              if (ctx.attempt === 1) await tx.query('select pg_sleep(0.6)')
            }),
        }),
      ],
      withPostgres(),
    )
    expect(await stage.ended(await stage.start(quick))).toMatchObject({ state: 'succeeded' })
    expect(attempts).toBe(2)
    expect(await happened()).toEqual(['attempt 2'])
  })

  it('outlasts an outage of Postgres without using up an attempt, and nothing doubles', async () => {
    let begun = 0
    let outage: Promise<void> | undefined
    await stage.work(
      [
        handle(many, {
          entities,
          each: async (key, ctx) => {
            begun += 1
            if (begun === 8) outage = server.kill().then(() => server.restart())
            await write(ctx, key)
          },
        }),
      ],
      withPostgres(),
    )
    const run = await stage.start(many)
    const ended = await stage.ended(run, { timeoutMs: 30_000 })
    await outage
    expect(ended).toMatchObject({ state: 'succeeded', entities: { planned: 30, done: 30, dead: 0 } })
    expect(begun).toBeGreaterThan(30)
    expect(await happened()).toEqual(KEYS)
  })

  it('holds over the loss of Redis: the same slot run again has no effect twice (C66, S3)', async () => {
    const at = Date.UTC(2026, 7, 25, 2)
    const statuses: string[] = []
    const each = async (key: string, ctx: EntityContext) => {
      statuses.push((await write(ctx, key)).status)
    }
    await stage.work([handle(many, { entities, each })], withPostgres())
    const first = await stage.start(many, { at })
    expect(await stage.ended(first)).toMatchObject({ state: 'succeeded' })
    await waitUntil(async () => new Set(await chunkStates(many)).size === 1, { message: 'all chunks closed' })
    await stage.redis.flushall()
    const again = await stage.start(many, { at })
    expect(again.id).toBe(first.id)
    expect(await stage.ended(again)).toMatchObject({ state: 'succeeded', entities: { done: 30 } })
    expect(statuses.filter((status) => status === 'skipped')).toHaveLength(30)
    expect(await happened()).toEqual(KEYS)
  })
})
