import { cron } from '@cronce/core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RedisServer, type SpawnedProcess, startRedis, waitUntil } from '../support/index.ts'
import { type Ground, openGround, repeated, tally } from './ground.ts'
import { type JobSpec, jobOf } from './programs/job-spec.ts'

let server: RedisServer
let ground: Ground
beforeAll(async () => {
  server = await startRedis()
  ground = await openGround(server)
})
afterAll(async () => {
  await ground.close()
  await server.stop()
})

const key = (index: number) => `e${String(index).padStart(3, '0')}`
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => key(from + index))

describe('a planner killed after each of its writes (W2, W3, C59, C71)', () => {
  it('while rows come and go: every entity that was there throughout runs once, the others at most once', async () => {
    const job: JobSpec = {
      ...{ name: 'planned', schedule: cron('0 3 1 1 *'), onCrash: 'complete', chunk: { size: 20, concurrency: 10 } },
    }
    const throughout = range(0, 600)
    await ground.setRows(throughout)
    // One task at a time, so that nobody dies with a chunk in its hands: what is repeated, a plan repeated.
    const points = [
      { event: 'run.started' },
      { event: 'chunk.written', most: 2 },
      { event: 'chunk.added', most: 2 },
      { event: 'run.planned' },
    ] as const
    const deaths = points.reduce((sum, point) => sum + ('most' in point ? point.most : 1), 0)
    const config = { jobs: [job], queues: { default: 1 }, points, openChunks: 4, planStep: 50, delayMs: 5 }
    const alive: SpawnedProcess[] = await Promise.all([1, 2, 3].map(() => ground.worker(config)))
    const run = await ground.start(jobOf(job))
    // As the run goes on: rows are deleted that are planned or are not, and others are inserted before and behind the cursor.
    for (let died = 1; died <= deaths; died++) {
      await waitUntil(async () => (await ground.casualties()).length >= died, {
        message: `death ${died}`,
        timeoutMs: 20_000,
      })
      await ground.setRows([
        ...throughout,
        ...range(0, died).map((each) => `${each}-new`),
        ...range(600, 600 + 20 * died),
      ])
      if (died < deaths) alive.push(await ground.worker(config))
    }
    const { state, entities } = await ground.ended(run, { timeoutMs: 30_000 })
    expect(state).toBe('succeeded')
    const effects = (await ground.effects('effect')).map((effect) => effect.key)
    const counts = tally(effects)
    expect(throughout.filter((each) => counts.get(each) !== 1)).toEqual([])
    expect(repeated(effects)).toEqual([])
    expect(entities).toMatchObject({ planned: effects.length, done: effects.length, dead: 0, duplicates: 0 })
    expect(await ground.casualties()).toHaveLength(deaths)
    await waitUntil(async () => (await ground.queued()).length === 0, { message: 'nothing on the queue' })
  })
})
