import { type CrashPolicy, cron } from '@cronce/core'
import { listDeadLetterIdsOf, type RunRef, readDeadLetter } from '@cronce/store'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type RedisServer, type SpawnedProcess, startRedis, waitUntil } from '../support/index.ts'
import { type Ground, openGround, repeated, tally } from './ground.ts'
import { type JobSpec, jobOf } from './programs/job-spec.ts'
import type { Act, WorkerConfig } from './programs/worker.ts'

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

const KEYS = Array.from({ length: 12 }, (_, index) => `e${String(index).padStart(2, '0')}`)

function spec(name: string, onCrash: CrashPolicy, extra: Partial<JobSpec> = {}): JobSpec {
  return {
    ...{ name, onCrash, schedule: cron('0 3 1 1 *') },
    chunk: { size: 12, concurrency: 2 },
    retry: { attempts: 3, backoff: { type: 'fixed', delay: 20, jitter: 0 } },
    ...extra,
  }
}

function workers(count: number, config: Partial<WorkerConfig> & Pick<WorkerConfig, 'jobs'>): Promise<SpawnedProcess[]> {
  return Promise.all(Array.from({ length: count }, () => ground.worker(config)))
}

async function letters(run: RunRef) {
  const ids = await listDeadLetterIdsOf(ground.store, run, { offset: 0, limit: 100 })
  return await Promise.all(ids.map((id) => readDeadLetter(ground.store, run.job, id)))
}

/** Pids of the processes that have ended. */
async function casualties(of: readonly SpawnedProcess[]): Promise<number[]> {
  const stillAlive = Promise.resolve(undefined)
  const ended = await Promise.all(
    of.map(async ({ exited, pid }) => ((await Promise.race([exited, stillAlive])) === undefined ? [] : [pid])),
  )
  return ended.flat()
}

describe('promise 5, crash policy is declared: a worker killed in the middle of a chunk', () => {
  it('complete: every entity is done; only what was in flight, or not yet written, is repeated', async () => {
    const job = spec('complete', 'complete')
    await ground.setRows(KEYS)
    const both = await workers(2, { jobs: [job], delayMs: 120, acts: { e07: { kind: 'die', times: 1 } } })
    const run = await ground.start(jobOf(job))
    expect(await ground.ended(run)).toMatchObject({
      state: 'succeeded',
      crashes: 1,
      entities: { planned: 12, done: 12, dead: 0 },
    })
    const [dead] = await casualties(both)
    const effects = await ground.effects('effect')
    expect([...tally(effects.map(({ key }) => key)).keys()].toSorted()).toEqual(KEYS)
    const diedAt = Math.max(...(await ground.effects('start')).filter(({ pid }) => pid === dead).map(({ at }) => at))
    // Written within settleEvery of its end: what ended well before the kill is not repeated.
    const old = effects.filter(({ pid, at }) => pid === dead && at < diedAt - 200).map(({ key }) => key)
    expect(old.length).toBeGreaterThan(0)
    expect(repeated(effects.map(({ key }) => key)).filter((key) => old.includes(key))).toEqual([])
    expect(await letters(run)).toEqual([])
  })

  it('skip: at most one start per slot, entity and attempt; what was started is abandoned and in the sum', async () => {
    const job = spec('skip', 'skip')
    await ground.setRows(KEYS)
    await workers(2, { jobs: [job], delayMs: 60, acts: { e07: { kind: 'die', times: 1 } } })
    const run = await ground.start(jobOf(job))
    const { state, entities } = await ground.ended(run)
    const starts = await ground.effects('start')
    expect(repeated(starts.map(({ key, attempt }) => `${key} ${attempt}`))).toEqual([])
    const abandoned = (await letters(run)).map((letter) => [letter?.entity, letter?.reason])
    expect(abandoned).toContainEqual(['e07', 'abandoned'])
    // Its mate of the same mark may not have come to its handler: it could have, so it is not started again.
    const accounted = new Set([...starts.map(({ key }) => key), ...abandoned.map(([entity]) => entity)])
    expect([...accounted].toSorted()).toEqual(KEYS)
    expect(abandoned.every(([, reason]) => reason === 'abandoned')).toBe(true)
    expect(state).toBe('partial')
    expect(entities).toMatchObject({ planned: 12, done: 12 - abandoned.length, dead: 0, abandoned: abandoned.length })
    const effects = await ground.effects('effect')
    expect(repeated(effects.map(({ key }) => key))).toEqual([])
    expect(effects.length).toBeGreaterThanOrEqual(entities.done)
  })
})

describe('a poison entity that kills every worker (C50, W6)', () => {
  it('is found and dead-lettered as crashed, its chunk-mates finish, though nobody lived when it struck', async () => {
    const job = spec('poison', 'complete', { retry: { attempts: 5, backoff: { type: 'fixed', delay: 20, jitter: 0 } } })
    const config = { jobs: [job], acts: { e03: { kind: 'die' } } } as const
    await ground.setRows(KEYS)
    const first = await workers(2, config)
    const run = await ground.start(jobOf(job))
    // The first dies with its mates in flight, the second with those that were marked beside the poison.
    expect(await Promise.all(first.map(({ exited }) => exited))).toEqual(
      [1, 2].map(() => ({ code: null, signal: 'SIGKILL' })),
    )
    expect((await ground.read(run)).state).toBe('running')
    // Two die with the poison alone.
    const second = await workers(3, config)
    expect(await ground.ended(run)).toMatchObject({
      state: 'partial',
      crashes: 4,
      entities: { planned: 12, done: 11, dead: 1 },
    })
    expect(await casualties(second)).toHaveLength(2)
    expect(await letters(run)).toMatchObject([
      { entity: 'e03', reason: 'crashed', state: 'open', payload: { id: 'e03' } },
    ])
    const effects = (await ground.effects('effect')).map(({ key }) => key)
    expect([...new Set(effects)].toSorted()).toEqual(KEYS.filter((key) => key !== 'e03'))
    const starts = tally((await ground.effects('start')).map(({ key }) => key))
    expect(starts.get('e03')).toBe(4)
  })

  it('starts once where the policy is skip', async () => {
    const job = spec('poison-skip', 'skip')
    await ground.setRows(KEYS)
    const both = await workers(2, { jobs: [job], acts: { e03: { kind: 'die' } } })
    const run = await ground.start(jobOf(job))
    const { entities, crashes } = await ground.ended(run)
    expect(crashes).toBe(1)
    expect(entities.done + entities.abandoned).toBe(12)
    expect(await casualties(both)).toHaveLength(1)
    expect((await ground.effects('start')).filter(({ key }) => key === 'e03')).toHaveLength(1)
  })
})

const actAt = (kind: Act['kind']) => ({ acts: { e00: { kind, times: 1 } } })

describe('a worker killed between an effect and what says so (C58)', () => {
  it.each([
    // Promise 6: an outside effect happens at least once, under the same slot and key.
    ['before its receipt: an outside effect happens again', 2, actAt('die-after-effect')],
    ['after its receipt: it does not happen again', 1, actAt('die-after-receipt')],
    ['after its settlement, before the queue heard: it does not either', 1, { points: [{ event: 'chunk.settled' }] }],
    ['after the end of the run: it does not, and `done` runs all the same', 1, { points: [{ event: 'run.ended' }] }],
  ] as const)('%s', async (_, times, config) => {
    const job = spec('acked', 'complete')
    await ground.setRows(['e00'])
    const both = await workers(2, { jobs: [job], once: true, ...config })
    const run = await ground.start(jobOf(job))
    expect(await ground.ended(run)).toMatchObject({ state: 'succeeded', entities: { planned: 1, done: 1 } })
    await waitUntil(async () => (await ground.effects('done')).length > 0, { message: 'done' })
    await waitUntil(async () => (await ground.queued()).length === 0, { message: 'nothing on the queue' })
    expect(await ground.casualties()).toHaveLength(1)
    expect(await casualties(both)).toHaveLength(1)
    const effects = await ground.effects('effect')
    expect(effects.map(({ key, slot }) => `${slot} ${key}`)).toEqual(
      Array.from({ length: times }, () => `${run.slot} e00`),
    )
    expect(await ground.effects('done')).toHaveLength(1)
  })
})
