import { cron, defineJob } from '@cronce/core'
import { redrive } from '@cronce/operations'
import { countDeadLetters, hintOpenWork, readTime, redriveDeadLetters } from '@cronce/store'
import { handle } from '@cronce/worker'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type RedisServer, startRedis, waitUntil } from '../support/index.ts'
import { manualClock } from '../support/manual-clock.ts'
import { writeManyLetters } from '../support/many-letters.ts'
import { openStage, type Stage } from '../support/worker-stage.ts'

const job = defineJob({
  name: 'invoice-run',
  schedule: cron('0 2 * * *'),
  onCrash: 'complete',
  entity: { schema: z.object({ id: z.string() }), key: ({ id }) => id },
})
const handler = () =>
  handle(job, { entities: () => ({ entities: [{ id: 'first' }], next: null }), each: () => undefined })

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

/** A run with 260 dead letters, 200 of which are on their way again, each as a chunk of its own; no worker is left. */
async function fullRun() {
  const { worker } = await stage.work([handler()])
  const run = await stage.start(job)
  await stage.ended(run)
  await worker.stop()
  const ids = await writeManyLetters(stage.store, run, { count: 260, fromAt: Date.UTC(2026, 0, 1) })
  await hintOpenWork(stage.store, [job.name], await readTime(stage.store))
  for (const id of ids.slice(0, 200))
    await redriveDeadLetters(stage.store, run, { ids: [id], by: 'ann', abandonedToo: false })
  return run
}

const open = () => countDeadLetters(stage.store, job.name)

describe('a redrive of a run that has 200 chunks open', () => {
  it.each(['workers make room', 'it is told to stop'])('waits until %s', async (until) => {
    const run = await fullRun()
    const access = { store: stage.store, enqueuer: stage.enqueuer, random: () => 0.5 }
    const [clock, stop] = [manualClock(0), new AbortController()]
    const request = { selection: { slot: run.slot }, operator: { name: 'ann' }, mode: 'redrive', clock } as const
    const redriven = redrive(access, { ...request, signal: stop.signal })
    for (const _ of ['a first look', 'a second look']) {
      await waitUntil(() => clock.armed === 1, { message: 'its wait' })
      expect(await open()).toBe(60)
      clock.advance(250)
    }
    await waitUntil(() => clock.armed === 1, { message: 'its wait' })
    if (until === 'it is told to stop') {
      stop.abort()
      expect([await redriven, await open()]).toEqual([expect.objectContaining({ entities: 0, left: 60 }), 60])
      // Who cannot stop it is not made to wait.
      expect(await redrive(access, request)).toMatchObject({ entities: 60, left: 0 })
      return
    }
    await stage.work([handler()])
    await waitUntil(async () => (await stage.read(run)).entities.done >= 2, { message: 'room', timeoutMs: 15_000 })
    clock.advance(250)
    expect([await redriven, await open()]).toEqual([expect.objectContaining({ entities: 60, left: 0 }), 0])
  })
})
