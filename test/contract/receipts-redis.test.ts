import { randomUUID } from 'node:crypto'
import { cron, defineJob, formatDeadLetterId, formatSlotId, formatSlotKey, parseSlotId } from '@cronce/core'
import {
  claimManual,
  connect,
  createStore,
  type RedisClient,
  type RunRef,
  recordSlots,
  redisReceipts,
  redriveDeadLetters,
  registerJob,
  type Store,
  settleChunk,
  startChunk,
  startPlan,
  writePage,
} from '@cronce/store'
import { afterAll, beforeAll } from 'vitest'
import { type RedisServer, startRedis } from '../support/index.ts'
import { describeReceipts, type HeldChunk } from './receipts.contract.ts'

const WORKER = { worker: 'w', release: 'test' }
const job = defineJob({ name: 'billing', schedule: cron('0 2 * * *'), onCrash: 'complete' })

let server: RedisServer
let redis: RedisClient
beforeAll(async () => {
  server = await startRedis()
  redis = connect(server.url, 'producer')
})
afterAll(async () => {
  redis.disconnect()
  await server.stop()
})

/** Each its own: a request that is sent twice is one run. */
let claims = 0

/** A run with one chunk, by the store's scripts alone. */
async function hold(store: Store, at: number): Promise<HeldChunk> {
  await registerJob(store, job, { by: 'test' })
  const claim = {
    at,
    token: `claim-${(claims += 1)}`,
    leaseMs: 10_000,
    by: 'test',
    release: 'test',
    instant: formatSlotId(at),
  }
  const run: RunRef = { job: job.name, id: (await claimManual(store, job.name, claim)).id }
  await recordSlots(store, {
    job: job.name,
    added: [{ id: run.id }],
    replica: 'test',
    markerMs: 1,
    foreign: false,
    queue: job.queue,
    version: 1,
    slots: [],
  })
  const plan = await startPlan(store, run, { ...WORKER, at, hasDone: false, mostOpenChunks: 10 })
  const members = ['a', 'b'].map((key) => ({ key, payload: 'null' }))
  await writePage(store, run, { fence: plan.fence, after: '', next: 'b', last: true, members })
  let starts = 0
  const start = (number: number) => startChunk(store, run, { number, worker: 'w', token: `hold-${(starts += 1)}` })
  let { fence } = await start(0)
  const slot = formatSlotKey({ job: run.job, ...(parseSlotId(run.id) ?? { at }) })
  const letter = formatDeadLetterId(slot, 'b')
  return {
    ...{ run, number: 0, fence },
    takeOver: async () => ({ fence } = await start(0)).fence,
    settle: async () => {
      const end = { verdict: 'dead' as const, attempts: 1, nextAttemptAt: 0, error: '', reason: 'failed' }
      const failures = [{ ...end, index: 1, deadLetterId: letter, entity: 'b', payload: 'null' }]
      const writes = { done: [0], failures, started: [], alone: false, handBack: false }
      await settleChunk(store, run, { ...WORKER, number: 0, fence, ...writes })
    },
    redrive: async () => {
      const request = { ids: [letter], by: 'test', abandonedToo: false }
      const number = (await redriveDeadLetters(store, run, request)).chunk ?? -1
      return { number, fence: (await start(number)).fence }
    },
  }
}

describeReceipts('Redis', () => {
  let now = Date.UTC(2026, 7, 25, 2)
  const store = createStore({ redis, service: `test-${randomUUID().slice(0, 8)}`, virtualTime: () => now })
  return { receipts: redisReceipts(store), hold: () => hold(store, now), pass: (ms) => void (now += ms) }
})
