import { cron, defineJob } from '@cronce/core'
import { handle } from '@cronce/worker'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
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
  retry: { attempts: 3, backoff: { type: 'fixed', delay: '20ms', jitter: 0 } },
  timeout: '5s',
})

describe('an effect', () => {
  it('that has its receipt is skipped by a later attempt, under the same idempotency key', async () => {
    const charged: string[] = []
    const answers: string[] = []
    const { told } = await stage.work([
      handle(job, {
        each: async (_, ctx) => {
          answers.push(await ctx.once('charge', () => void charged.push(ctx.idempotencyKey('charge'))))
          if (ctx.attempt < 3) throw new Error('after the effect')
        },
      }),
    ])
    const run = await stage.start(job)
    expect(await stage.ended(run)).toMatchObject({ state: 'succeeded' })
    expect(charged).toEqual([`${run.slot}/-/charge`.replace('+', '+')])
    expect(answers).toEqual(['done', 'skipped', 'skipped'])
    expect(told('receipt.hit')).toHaveLength(2)
    expect(told('receipt.lost')).toEqual([])
  })

  it('that throws has none, and runs again', async () => {
    let calls = 0
    await stage.work([
      handle(job, {
        each: (_, ctx) =>
          ctx.once('charge', () => {
            calls += 1
            if (calls < 3) throw new Error('the other side said no')
          }),
      }),
    ])
    expect(await stage.ended(await stage.start(job))).toMatchObject({ state: 'succeeded', retries: 2 })
    expect(calls).toBe(3)
  })

  it('that an attempt which timed out still has under way is waited for, without using up the waiting attempt', async () => {
    const quick = { ...job, timeoutMs: 200 }
    let calls = 0
    const answers: string[] = []
    const attempts: number[] = []
    await stage.work(
      [
        handle(quick, {
          each: async (_, ctx) => {
            attempts.push(ctx.attempt)
            const answer = await ctx.once('slow', async () => {
              calls += 1
              // Longer than the timeout of two attempts, shorter than the lease that its attempt last renewed.
              await takeTime(600)
            })
            answers.push(answer)
          },
        }),
      ],
      { receiptLease: '2s' },
    )
    expect(await stage.ended(await stage.start(quick))).toMatchObject({
      state: 'succeeded',
      entities: { done: 1, dead: 0 },
    })
    expect(calls).toBe(1)
    expect(attempts).toEqual([1, 2])
    await waitUntil(() => answers.length === 2, { message: 'both attempts' })
    expect(answers.toSorted()).toEqual(['done', 'skipped'])
  })

  it('asked for twice at the same time by one attempt happens once', async () => {
    let calls = 0
    const answers: string[] = []
    await stage.work([
      handle(job, {
        each: async (_, { once }) => {
          const effect = async () => {
            calls += 1
            await Promise.resolve()
          }
          answers.push(...(await Promise.all([once('mail', effect), once('mail', effect), once('mail', effect)])))
        },
      }),
    ])
    expect(await stage.ended(await stage.start(job))).toMatchObject({ state: 'succeeded' })
    expect(calls).toBe(1)
    expect(answers.toSorted()).toEqual(['done', 'skipped', 'skipped'])
  })

  it('starts no more once its attempt is over', async () => {
    const quick = { ...job, timeoutMs: 100, retry: { ...job.retry, attempts: 1 } }
    let late: unknown
    let calls = 0
    await stage.work([
      handle(quick, {
        each: async (_, ctx) => {
          await takeTime(300)
          await ctx.once('mail', () => void (calls += 1)).catch((error: unknown) => (late = error))
        },
      }),
    ])
    expect(await stage.ended(await stage.start(quick))).toMatchObject({ state: 'failed' })
    await waitUntil(() => late, { message: 'the late effect' })
    expect(late).toMatchObject({ code: 'CRONCE_ENTITY_TIMEOUT' })
    expect(calls).toBe(0)
  })

  it('without a proper name is refused', async () => {
    const refusals: unknown[] = []
    await stage.work([
      handle(job, {
        each: async (_, ctx) => {
          for (const name of ['', 'two\nlines', 'x'.repeat(201)]) {
            await ctx.once(name, () => undefined).catch((error: unknown) => refusals.push(error))
          }
        },
      }),
    ])
    await stage.ended(await stage.start(job))
    expect(refusals).toMatchObject(Array.from({ length: 3 }, () => ({ code: 'CRONCE_EFFECT_INVALID' })))
  })
})
