import { cron } from '@cronce/core'
import { listDeadLetterIdsOf } from '@cronce/store'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type RedisServer, type SpawnedProcess, startRedis, waitUntil } from '../support/index.ts'
import { type Ground, openGround, repeated, told } from './ground.ts'
import { type JobSpec, jobOf } from './programs/job-spec.ts'

let server: RedisServer
let ground: Ground
beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())
beforeEach(async () => {
  ground = await openGround(server)
})
afterEach(() => ground.close())

const KEYS = ['e0', 'e1', 'e2', 'e3', 'e4', 'e5']

function spec(name: string, onCrash: JobSpec['onCrash']): JobSpec {
  return { name, onCrash, schedule: cron('0 3 1 1 *'), chunk: { size: 6, concurrency: 1 } }
}

// One task at a time: a worker that waits for another task would be woken for the one that it lost, and sleep on.
const ONE = { queues: { default: 1 } }

/** The worker that was the first to start an entity. */
async function firstAt(key: string, workers: readonly SpawnedProcess[]): Promise<SpawnedProcess> {
  const first = (await ground.effects('start')).find((start) => start.key === key)
  const worker = workers.find(({ pid }) => pid === first?.pid)
  if (worker === undefined) throw new Error(`nobody started ${key}`)
  return worker
}

describe('promise 7, no late owner', () => {
  it.each(['complete', 'skip'] as const)(
    'a worker frozen past its lock settles nothing and starts no further effect when it wakes (%s, C49)',
    async (onCrash) => {
      const job = spec('frozen', onCrash)
      await ground.setRows(KEYS)
      // The third freezes its worker when it has started, before its effect.
      const config = { ...ONE, jobs: [job], once: true, acts: { e2: { kind: 'freeze', times: 1 } } } as const
      const both = await Promise.all([ground.worker(config), ground.worker(config)])
      const run = await ground.start(jobOf(job))
      const ended = await ground.ended(run)
      const late = await firstAt('e2', both)
      const before = await ground.effects('effect')
      late.signal('SIGCONT')
      await late.waitForLine(({ json }) => json?.['event'] === 'chunk.fenced-off')
      await waitUntil(async () => (await ground.queued()).length === 0, { message: 'nothing on the queue' })
      const done = onCrash === 'complete' ? 6 : 5
      expect(ended).toMatchObject({ crashes: 1, entities: { planned: 6, done, abandoned: 6 - done, dead: 0 } })
      // Nothing was written, repeated or begun by the late one.
      expect(await ground.read(run)).toEqual(ended)
      expect(await ground.effects('effect')).toEqual(before)
      expect(repeated(before.map(({ key }) => key))).toEqual([])
      expect(before).toHaveLength(done)
      const startedLate = (await ground.effects('start'))
        .filter((start) => start.pid === late.pid)
        .map(({ key }) => key)
      expect(startedLate).toEqual(['e0', 'e1', 'e2'])
      expect(await listDeadLetterIdsOf(ground.store, run, { offset: 0, limit: 9 })).toHaveLength(6 - done)
      // It is in order again: the next run's chunks are anybody's.
      const next = await ground.start(jobOf(job), { at: new Date().getTime() + 5_000 })
      expect(await ground.ended(next)).toMatchObject({ state: 'succeeded', entities: { done: 6 } })
    },
  )

  it('a worker whose event loop stood still past its lock does as well, and the stall is told (C49)', async () => {
    const job = spec('blocked', 'complete')
    await ground.setRows(KEYS)
    const config = { ...ONE, jobs: [job], once: true, acts: { e2: { kind: 'block', times: 1, forMs: 4_000 } } } as const
    const both = await Promise.all([ground.worker(config), ground.worker(config)])
    const run = await ground.start(jobOf(job))
    const ended = await ground.ended(run)
    expect(ended).toMatchObject({ state: 'succeeded', crashes: 1, entities: { done: 6 } })
    const late = await firstAt('e2', both)
    await late.waitForLine(({ json }) => json?.['event'] === 'chunk.fenced-off')
    const effects = (await ground.effects('effect')).map(({ key }) => key)
    expect(effects.toSorted()).toEqual(KEYS)
    expect(await ground.read(run)).toEqual(ended)
    expect((await ground.effects('start')).filter(({ pid }) => pid === late.pid)).toHaveLength(3)
    const stalls = both.flatMap((worker) => told(worker, 'queue.troubled').filter(({ kind }) => kind === 'stalled'))
    expect(stalls).toHaveLength(1)
  })
})
