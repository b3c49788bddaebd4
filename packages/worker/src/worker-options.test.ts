import { cron, defineJob, isCronceError } from '@cronce/core'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createWorker } from './create-worker.ts'
import { type Handler, handle } from './handler.ts'
import type { WorkerOptions } from './worker-options.ts'

const plain = defineJob({ name: 'plain', schedule: cron('0 2 * * *'), onCrash: 'complete' })
const paged = defineJob({
  name: 'paged',
  schedule: cron('0 2 * * *'),
  onCrash: 'skip',
  queue: 'billing',
  entity: { schema: z.object({ id: z.string() }), key: ({ id }) => id },
})
const foreign = defineJob({
  name: 'foreign',
  schedule: cron('0 2 * * *'),
  onCrash: 'skip',
  enqueue: { queue: 'mail', name: 'send' },
})

function faultsOf(options: Partial<WorkerOptions>): string[] {
  try {
    createWorker({ service: 's', redis: 'redis://127.0.0.1:1', handlers: [], queues: { default: 1 }, ...options })
    return []
  } catch (error) {
    if (!isCronceError(error, 'CRONCE_WORKER_INVALID')) throw error
    return error.faults.map(({ path, message }) => `${path}: ${message}`)
  }
}

describe('a worker', () => {
  it('is refused with every fault at once', () => {
    const broken = {
      ...handle(paged, { entities: () => [], each: () => undefined }),
      each: 7,
      entities: undefined,
      done: 'x',
    }
    const faults = faultsOf({
      service: '',
      queues: { default: 0 },
      handlers: [
        handle(plain, { each: () => undefined }),
        handle(plain, { each: () => undefined }),
        broken as unknown as Handler,
        undefined as unknown as Handler,
        handle(foreign, { each: () => undefined }),
      ],
      lock: 'soon',
      crashLimit: 0,
    })
    expect(faults).toEqual([
      'service: expected the name of the service, got ""',
      'queues.default: expected how many tasks at once, a whole number from 1, got 0',
      'handlers.plain: expected one handler, got another one for the same job',
      'handlers.paged.each: expected a function, got 7',
      'handlers.paged.entities: expected a function that reads the entities of a job with `entity`, got nothing',
      'handlers.paged.done: expected a function, got "x"',
      'handlers.paged: expected its queue "billing" among those of this worker, got default',
      'handlers[3]: expected what handle(job, ...) returns, got nothing',
      'handlers.foreign: expected none: with `enqueue` the job is placed for a worker of your own',
      expect.stringContaining('lock: '),
      'crashLimit: expected a whole number from 1, got 0',
    ])
  })

  it('needs at least one queue', () => {
    expect(faultsOf({ queues: {} })).toEqual(['queues: expected at least one queue, got an empty object'])
  })

  it('does nothing before it is started, and stops without having been', async () => {
    const worker = createWorker({ service: 's', redis: 'redis://127.0.0.1:1', handlers: [], queues: { default: 1 } })
    expect(worker.health()).toEqual({ state: 'created', active: 0, queues: { default: 1 } })
    await worker.stop()
  })
})

describe('a handler', () => {
  it('is typed by its job, without casts', () => {
    handle(paged, {
      entities: () => [],
      each: (account, ctx) => {
        const id: string = account.id
        // @ts-expect-error the schema has no such field
        void account.name
        void ctx.idempotencyKey(id)
      },
    })
    // @ts-expect-error a job with `entity` needs a source
    handle(paged, { each: () => undefined })
    // @ts-expect-error a job without `entity` has none
    handle(plain, { entities: () => [], each: () => undefined })
    // @ts-expect-error there is nothing to run
    handle(plain, {})
    handle(paged, {
      entities: () => [],
      eachChunk: async (accounts, ctx) => {
        const ids: string[] = accounts.map(({ id }) => id)
        await ctx.transaction('invoice', (_, due) => ids.concat(due.map(({ id }) => id)))
      },
    })
    // @ts-expect-error neither each nor eachChunk
    handle(paged, { entities: () => [] })
    // @ts-expect-error the schema has no such field
    handle(paged, { entities: () => [], eachChunk: ([account]) => account?.name })
    // @ts-expect-error a job without `entity` has no chunks
    handle(plain, { eachChunk: () => undefined })
    const named: 'plain' = handle(plain, { each: (entity: undefined) => entity }).job.name
    expect(named).toBe('plain')
  })
})
