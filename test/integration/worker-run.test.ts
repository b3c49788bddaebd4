import { cron, defineJob } from '@cronce/core'
import { handle } from '@cronce/worker'
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

const account = { schema: z.object({ id: z.string() }), key: ({ id }: { id: string }) => id }

const billing = defineJob({
  name: 'billing',
  schedule: cron('0 2 * * *'),
  onCrash: 'complete',
  entity: account,
  chunk: { size: 100, concurrency: 10 },
})

const nightly = defineJob({ name: 'nightly', schedule: cron('0 3 * * *'), onCrash: 'complete' })

interface Row {
  id: string
  open: boolean
}

function rowsOf(count: number): Row[] {
  return Array.from({ length: count }, (_, index) => ({ id: `a${String(index).padStart(4, '0')}`, open: true }))
}

describe('a run', () => {
  it('executes every entity once while the handler changes what is paged over and rows come and go (C59)', async () => {
    const rows = rowsOf(250)
    const done: string[] = []
    let pages = 0
    const { told } = await stage.work([
      handle(billing, {
        entities: ({ after, limit }) => {
          pages += 1
          // Rows come before the cursor and go, while it is read.
          if (pages === 2) rows.unshift({ id: 'a', open: true })
          if (pages === 2)
            rows.splice(
              rows.findIndex(({ id }) => id === 'a0240'),
              1,
            )
          return rows.filter(({ id, open }) => open && (after === undefined || id > after)).slice(0, limit)
        },
        each: ({ id }) => {
          done.push(id)
          const row = rows.find((each) => each.id === id)
          if (row !== undefined) row.open = false
        },
      }),
    ])
    const run = await stage.start(billing)
    const entry = await stage.ended(run)
    expect(entry.state).toBe('succeeded')
    expect(entry.entities).toEqual({ planned: 249, done: 249, dead: 0, abandoned: 0, skipped: 0, duplicates: 0 })
    expect(done.toSorted()).toEqual(
      rowsOf(250)
        .map(({ id }) => id)
        .filter((id) => id !== 'a0240'),
    )
    await waitUntil(() => told('run.ended').length > 0, { message: 'the word of its end' })
    const tookMs: unknown = expect.any(Number)
    expect(told('run.ended')).toEqual([{ slot: run.slot, state: 'succeeded', version: 1, tookMs }])
    expect(told('queue.troubled')).toEqual([])
  })

  it('succeeds without entities', async () => {
    const done: unknown[] = []
    const handler = handle(billing, {
      entities: () => [],
      each: () => undefined,
      done: (summary) => void done.push(summary.counts),
    })
    await stage.work([handler])
    const entry = await stage.ended(await stage.start(billing))
    expect(entry).toMatchObject({ state: 'succeeded', entities: { planned: 0, done: 0 } })
    await waitUntil(() => done.length === 1, { message: 'done' })
  })

  it('of a job without entities is one entity', async () => {
    const seen: unknown[] = []
    await stage.work([
      handle(nightly, { each: (entity, ctx) => void seen.push([entity, ctx.attempt, ctx.cause, ctx.slot.key]) }),
    ])
    const run = await stage.start(nightly)
    const entry = await stage.ended(run)
    expect(entry).toMatchObject({ state: 'succeeded', entities: { planned: 1, done: 1 } })
    expect(seen).toEqual([[undefined, 1, 'manual', run.slot]])
  })

  it('reads a long iterable once, however often its plan pauses for room', async () => {
    let opened = 0
    let read = 0
    let ended = 0
    const { told } = await stage.work(
      [
        handle(
          { ...billing, chunk: { size: 10, concurrency: 10 } },
          {
            entities: async function* rows() {
              opened += 1
              try {
                for (const row of rowsOf(1_000)) {
                  read += 1
                  yield row
                }
              } finally {
                ended += 1
              }
            },
            each: () => undefined,
          },
        ),
      ],
      { openChunks: 4, planStep: '20ms' },
    )
    const entry = await stage.ended(await stage.start(billing), { timeoutMs: 30_000 })
    expect(entry).toMatchObject({ state: 'succeeded', entities: { planned: 1_000, done: 1_000, duplicates: 0 } })
    expect(told('chunk.written')).toHaveLength(100)
    // Where the next step is there before this one has put its iterable away, it is opened again.
    expect(opened).toBeLessThanOrEqual(5)
    expect(read).toBeLessThanOrEqual(5_000)
    await waitUntil(() => ended === opened, { message: 'all let go' })
  })
})
