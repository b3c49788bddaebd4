import { every } from '@cronce/core'
import { type LedgerEntry, listGaps, listSlots, readJob, readTime } from '@cronce/store'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { describeNeeding, type RedisServer, type SpawnedProcess, startRedis, waitUntil } from '../support/index.ts'
import { type Ground, openGround, repeated, told } from './ground.ts'
import type { JobSpec } from './programs/job-spec.ts'

let server: RedisServer
let ground: Ground
beforeAll(async () => {
  server = await startRedis({ appendonly: 'always' })
})
afterAll(() => server.stop())
beforeEach(async () => {
  ground = await openGround(server)
  await ground.setRows(['only'])
})
afterEach(() => ground.close())

const AT_MOST = 10
const ticks: JobSpec = {
  ...{ name: 'ticks', schedule: every('1s'), onCrash: 'complete', overlap: 'allow' },
  catchUp: { mode: 'late', within: '1h', atMost: AT_MOST },
}

interface Fleet {
  readonly replicas: readonly SpawnedProcess[]
  readonly worker: SpawnedProcess
}

async function startFleet(): Promise<Fleet> {
  const [one, two, worker] = await Promise.all([
    ground.replica({ jobs: [ticks] }),
    ground.replica({ jobs: [ticks] }),
    ground.worker({ jobs: [ticks] }),
  ])
  await succeeded(2)
  return { replicas: [one, two], worker }
}

async function slots(): Promise<LedgerEntry[]> {
  return (await listSlots(ground.store, 'ticks', { limit: 1_000 })).toReversed()
}

/** Waits for so many runs that succeeded. */
async function succeeded(count: number): Promise<void> {
  const enough = async () => (await slots()).filter(({ state }) => state === 'succeeded').length >= count
  await waitUntil(enough, { message: `${count} runs`, timeoutMs: 40_000 })
}

/** Every slot since the registration is recorded once, in a record or a gap, and what ran, ran once. */
async function expectAllAccountedFor(): Promise<void> {
  const untilAt = await readTime(ground.store)
  await waitUntil(async () => ((await readJob(ground.store, 'ticks'))?.watermarkAt ?? 0) >= untilAt, {
    message: 'everything recorded up to now',
    timeoutMs: 30_000,
  })
  const entries = (await slots()).filter(({ at }) => at <= untilAt)
  await waitUntil(
    async () => (await slots()).filter(({ at }) => at <= untilAt).every(({ state }) => state === 'succeeded'),
    {
      message: `the end of every run`,
      timeoutMs: 30_000,
    },
  )
  const gaps = await listGaps(ground.store, 'ticks', { afterAt: 0, limit: 100 })
  const { sinceAt = 0 } = (await readJob(ground.store, 'ticks')) ?? {}
  for (let at = Math.floor(sinceAt / 1_000) * 1_000 + 1_000; at <= untilAt; at += 1_000) {
    const inGaps = gaps.filter(({ fromAt, toAt }) => at > fromAt && at <= toAt).length
    expect([at, entries.filter((entry) => entry.at === at).length + inGaps]).toEqual([at, 1])
  }
  const effects = (await ground.effects('effect')).map(({ slot }) => slot)
  expect(repeated(effects)).toEqual([])
  expect(effects).toEqual(expect.arrayContaining(entries.map(({ slot }) => slot)))
}

describeNeeding(['redis-server'], 'promise 3, nothing unrecorded: Redis', () => {
  it('frozen over several slots, longer than commands wait: no slot is lost or doubled, nobody is restarted (C67)', async () => {
    const { replicas } = await startFleet()
    const before = (await slots()).length
    await server.kill('SIGSTOP')
    await Promise.all(
      replicas.map((replica) => replica.waitForLine(({ json }) => json?.['event'] === 'store.lost-touch')),
    )
    const outOfReach = await replicas[0]?.waitForLine(({ json }) => json?.['event'] === 'tick.failed')
    // T13: the replica knows by itself what is due.
    expect(outOfReach?.json?.['dueSlots']).toContainEqual(expect.stringContaining('ticks@'))
    await server.kill('SIGCONT')
    await Promise.all(replicas.map((replica) => replica.waitForLine(({ json }) => json?.['event'] === 'store.reached')))
    await succeeded(before + 4)
    await expectAllAccountedFor()
  })

  it('killed and started again with what it had acknowledged: the same; the worker goes on by itself (C65)', async () => {
    const { replicas, worker } = await startFleet()
    await server.kill('SIGKILL')
    await Promise.all(replicas.map((replica) => replica.waitForLine(({ json }) => json?.['event'] === 'tick.failed')))
    await waitUntil(() => told(worker, 'queue.troubled').length > 0, { message: 'the worker to notice' })
    await server.restart()
    const before = (await slots()).length
    await succeeded(before + 4)
    await expectAllAccountedFor()
    for (const replica of replicas) expect(told(replica, 'store.lost-writes')).toEqual([])
  })
})
