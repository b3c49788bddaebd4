import { cron, defineJob } from '@cronce/core'
import { listDeadLetterIdsOf, readDeadLetter, redriveDeadLetters } from '@cronce/store'
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

const other = defineJob({ name: 'other', schedule: cron('0 3 * * *'), onCrash: 'complete' })
const gone = defineJob({
  name: 'gone',
  schedule: cron('0 3 * * *'),
  onCrash: 'complete',
  entity: { schema: z.string(), key: (id) => id },
  chunk: { size: 5, concurrency: 1 },
  tolerance: { start: '200ms', finish: '1s' },
  timeout: '1s',
})
const KEYS = Array.from({ length: 60 }, (_, index) => `e${String(index).padStart(2, '0')}`)
const source = ({ after = '', limit }: { after: string | undefined; limit: number }) =>
  KEYS.filter((key) => key > after).slice(0, limit)
const idle = handle(other, { each: () => undefined })

/** A run whose only worker is stopped in the middle, for good. */
async function vanishInTheMiddle(job: typeof gone, options: { openChunks: number }) {
  const done: string[] = []
  const { worker } = await stage.work(
    [
      handle(job, {
        entities: source,
        each: async (key) => {
          if (done.length >= 12) await new Promise(() => undefined)
          done.push(key)
        },
        done: () => undefined,
      }),
    ],
    { ...options, queues: { default: 2 }, shutdownTimeout: '20ms', abortGrace: '20ms' },
  )
  const run = await stage.start(job)
  await waitUntil(() => done.length >= 12, { message: 'twelve are done' })
  await worker.stop()
  return { run, done }
}

describe('a run under way whose handler vanished (W1)', () => {
  it('is given up by its finish tolerance: its sum adds up, and a redrive does the rest, once', async () => {
    const { run, done } = await vanishInTheMiddle(gone, { openChunks: 4 })
    const { told } = await stage.work([idle])
    const entry = await stage.ended(run, { timeoutMs: 40_000 })
    const { planned, dead } = entry.entities
    expect(entry).toMatchObject({ state: 'partial', entities: { done: 12, abandoned: 0 } })
    expect(planned).toBe(12 + dead)
    expect(planned).toBeLessThan(60)
    expect(told('run.ended')).toEqual([{ slot: run.slot, state: 'partial', version: entry.version }])
    const ids = await listDeadLetterIdsOf(stage.store, run, { offset: 0, limit: 100 })
    const letters = await Promise.all(ids.map((id) => readDeadLetter(stage.store, run.job, id)))
    // One of each entity that was planned, and one of the plan: the rest was never read.
    expect(letters.map((letter) => letter?.reason)).toEqual(Array.from({ length: dead + 1 }, () => 'no handler'))
    const one = letters.find((letter) => letter?.entity !== undefined)
    expect(one?.payload).toBe(one?.entity)
    expect(one?.errors[0]?.message).toContain('no live worker has a handler for job "gone" version 1')

    await stage.work([handle(gone, { entities: source, each: (key) => void done.push(key), done: () => undefined })])
    const redriven = await redriveDeadLetters(stage.store, run, { ids, by: 'test', abandonedToo: false })
    expect(redriven.count).toBe(dead + 1)
    const at = { job: run.job, id: run.id, version: 1 }
    await stage.enqueuer.add('default', [
      { ...at, kind: 'plan', number: redriven.step },
      { ...at, kind: 'chunk', number: redriven.chunk ?? 0 },
    ])
    const after = await stage.ended(run, { version: entry.version + 1, timeoutMs: 60_000 })
    expect(after).toMatchObject({ state: 'succeeded', entities: { planned: 60, done: 60, dead: 0 } })
    expect(done.toSorted()).toEqual(KEYS)
  })

  it('is not given up while something of it goes on, nor before its time', async () => {
    const patient = { ...gone, tolerance: { startMs: 200, finishMs: 30_000 } }
    const { run } = await vanishInTheMiddle(patient, { openChunks: 40 })
    const { told, worker } = await stage.work([idle])
    await waitUntil(() => told('task.handed-back').length >= 3, { message: 'hand-backs' })
    // A deploy: the handler is there again.
    await worker.stop()
    const seen: string[] = []
    await stage.work([handle(patient, { entities: source, each: (key) => void seen.push(key), done: () => undefined })])
    const entry = await stage.ended(run, { timeoutMs: 60_000 })
    expect(entry).toMatchObject({ state: 'succeeded', entities: { planned: 60, done: 60, dead: 0 } })
    expect(seen).toHaveLength(48)
  })
})
