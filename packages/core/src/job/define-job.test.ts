import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { cron, every } from '../schedule/schedule.ts'
import { defineJob } from './define-job.ts'
import * as defaults from './job-defaults.ts'
import type { JobDefinition } from './job-definition.ts'

const least = { name: 'cache-refresh', schedule: every('2s'), onCrash: 'skip' } as const
const nightly = { name: 'nightly', schedule: cron('0 2 * * *'), onCrash: 'complete' } as const

describe('defineJob', () => {
  it('turns every field of the design into settings in milliseconds', () => {
    const schema = z.object({ accountId: z.string() })
    const invoiceRun = defineJob({
      name: 'invoice-run',
      schedule: cron('0 2 * * *', { zone: 'Europe/Berlin' }),
      onCrash: 'complete',
      catchUp: { mode: 'late', within: '6h', atMost: 10 },
      overlap: 'skip',
      tolerance: { start: '10m', finish: '1h' },
      entity: { schema, key: (account) => account.accountId },
      chunk: { size: 100, concurrency: 10 },
      retry: { attempts: 5, backoff: { type: 'exponential', delay: '5s', cap: '10m', jitter: 0.5 } },
      timeout: '2m',
      queue: 'billing',
      expire: '3h',
      version: 2,
      was: 'billing-run',
      description: 'Invoices every account',
    })
    expect(invoiceRun).toEqual({
      name: 'invoice-run',
      schedule: cron('0 2 * * *', { zone: 'Europe/Berlin' }),
      onCrash: 'complete',
      catchUp: { mode: 'late', withinMs: 21_600_000, atMost: 10 },
      overlap: 'skip',
      tolerance: { startMs: 600_000, finishMs: 3_600_000 },
      entity: { parse: expect.any(Function), key: expect.any(Function) },
      chunk: { size: 100, concurrency: 10 },
      retry: { attempts: 5, backoff: { type: 'exponential', delayMs: 5_000, capMs: 600_000, jitter: 0.5 } },
      timeoutMs: 120_000,
      queue: 'billing',
      expireMs: 10_800_000,
      version: 2,
      was: 'billing-run',
      description: 'Invoices every account',
    })
    expect(invoiceRun.entity.parse({ accountId: 'a1' })).toEqual({ accountId: 'a1' })
    expect(() => invoiceRun.entity.parse({ accountId: 1 })).toThrow(z.ZodError)
    expect(invoiceRun.entity.key({ accountId: 'a1' })).toBe('a1')
    expectTypeOf(invoiceRun).toEqualTypeOf<JobDefinition<'invoice-run', { accountId: string }>>()
  })

  it('fills in the documented defaults', () => {
    expect(defineJob(nightly)).toMatchObject({
      catchUp: { mode: 'late', withinMs: 3_600_000, atMost: 10 },
      overlap: 'skip',
      tolerance: { startMs: 300_000, finishMs: 3_600_000 },
      chunk: { size: 100, concurrency: 10 },
      retry: { attempts: 3, backoff: { type: 'exponential', delayMs: 1_000, capMs: 600_000, jitter: 0.5 } },
      timeoutMs: 60_000,
      queue: 'default',
      version: 1,
    })
    expect(defineJob(nightly)).not.toHaveProperty('expireMs')
  })

  it('gives a job that fires every two seconds a tolerance that fits', () => {
    expect(defineJob(least).tolerance).toEqual({ startMs: defaults.LEAST_START_BOUND_MS, finishMs: 3_600_000 })
    expect(defineJob({ ...least, schedule: every('3m') }).tolerance.startMs).toBe(180_000)
  })

  it('lets no default contradict what was written', () => {
    expect(defineJob({ ...nightly, tolerance: { finish: '30s' } }).tolerance).toEqual({
      startMs: 15_000,
      finishMs: 30_000,
    })
    expect(defineJob({ ...nightly, expire: '1m' }).tolerance.startMs).toBe(30_000)
    expect(defineJob({ ...nightly, tolerance: { start: '2h' }, timeout: '30m' }).tolerance.finishMs).toBe(9_000_000)
    expect(defineJob({ ...nightly, retry: { backoff: { delay: '1h' } } }).retry.backoff.capMs).toBe(3_600_000)
  })

  it('makes a job without entity one entity with an undefined payload', () => {
    const job = defineJob(least)
    expectTypeOf(job).toEqualTypeOf<JobDefinition<'cache-refresh', undefined>>()
    expect(job.entity.parse({ any: 'thing' })).toBeUndefined()
    expect(job.entity.key(undefined)).toBe('-')
  })

  it('infers what the schema puts out, transforms and defaults included', () => {
    const schema = z.object({ id: z.coerce.number(), tags: z.array(z.string()).default([]) })
    const job = defineJob({ ...nightly, entity: { schema, key: (row) => String(row.id) } })
    expectTypeOf(job.entity.parse).returns.toEqualTypeOf<{ id: number; tags: string[] }>()
    expectTypeOf(job.name).toEqualTypeOf<'nightly'>()
    expect(job.entity.key(job.entity.parse({ id: '7' }))).toBe('7')
  })

  it('refuses in types what it refuses at run time', () => {
    // @ts-expect-error onCrash has no default
    expect(() => defineJob({ name: 'a', schedule: every('1m') })).toThrow('there is no default')
    // @ts-expect-error an unknown mode
    expect(() => defineJob({ ...least, catchUp: { mode: 'all' } })).toThrow('"late", "latest" or "skip"')
    // @ts-expect-error an unknown key
    expect(() => defineJob({ ...least, crash: 'skip' })).toThrow('unknown key')
    // @ts-expect-error a key of another entity
    expect(defineJob({ ...least, entity: { schema: z.object({ a: z.string() }), key: (row) => row.b } })).toBeDefined()
  })

  it('takes what an undefined value says as not said', () => {
    const loose = { ...least, overlap: undefined, catchUp: { mode: undefined }, expire: undefined } as never
    expect(defineJob(loose)).toEqual({ ...defineJob(least), entity: expect.anything() })
  })

  it('takes any parse, whatever library it is of', () => {
    const parse = (payload: unknown): { id: string } => ({ id: String(payload) })
    const job = defineJob({ ...least, entity: { schema: { parse }, key: ({ id }) => id } })
    expect(job.entity.parse(5)).toEqual({ id: '5' })
  })

  it('places a job for a plain BullMQ worker, with overlap allow and its default prefix', () => {
    const job = defineJob({ ...least, enqueue: { queue: '{orders}', name: 'nightly' } })
    expect(job).toMatchObject({ overlap: 'allow', enqueue: { queue: '{orders}', name: 'nightly', prefix: 'bull' } })
  })

  it('is frozen to its last leaf, and keeps nothing of the object it was given', () => {
    const input = { ...least, tolerance: { start: '5s' as string, finish: '1m' } }
    const job = defineJob(input)
    input.tolerance.start = '40s'
    expect(job.tolerance.startMs).toBe(5_000)
    expect(Object.isFrozen(job) && Object.isFrozen(job.retry.backoff) && Object.isFrozen(job.schedule)).toBe(true)
    expect(Object.isFrozen(job.entity)).toBe(true)
  })
})
