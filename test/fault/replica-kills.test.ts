import { type EventName, every, formatSlotKey, type SlotKey, slotsBetween } from '@cronce/core'
import { type LedgerEntry, listGaps, listSlots, readJob, readTime } from '@cronce/store'
import { handle } from '@cronce/worker'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type RedisServer, type SpawnedProcess, startRedis, waitUntil } from '../support/index.ts'
import { CLAIM_LEASE_MS, type Ground, onceSoon, openGround, SLACK_MS, SWEEP_MS, told } from './ground.ts'
import { jobOf, type Row } from './programs/job-spec.ts'

let server: RedisServer
let ground: Ground
beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())

const REPLICAS = 5
const WITHIN_MS = CLAIM_LEASE_MS + 1.25 * SWEEP_MS + SLACK_MS

interface SoonJob {
  readonly job: ReturnType<typeof jobOf>
  readonly at: number
  readonly slot: SlotKey
}

/** A job that is due once, in a moment. */
function soon(name: string, inMs?: number): SoonJob {
  const { at, schedule } = onceSoon(inMs)
  return { job: jobOf({ name, schedule, onCrash: 'complete' }), at, slot: formatSlotKey({ job: name, at }) }
}

async function slotsOf({ job }: SoonJob): Promise<LedgerEntry[]> {
  return await listSlots(ground.store, job.name, { limit: 10 })
}

/** Waits until the ledger says that the only slot of a job is on the queue. */
async function recorded(of: SoonJob): Promise<LedgerEntry> {
  return await waitUntil(async () => (await slotsOf(of)).find(({ state }) => state === 'enqueued'), {
    message: `the record of ${of.slot}`,
    timeoutMs: 15_000,
  })
}

/** A worker in this process takes what there is, until nothing is left on the queue. Answers what it ran, and told. */
async function runAll(jobs: readonly SoonJob[], keys: Readonly<Record<string, string>> = {}) {
  const ran: string[] = []
  const { worker, told: heard } = await ground.work(
    jobs.map(({ job }) =>
      handle(job, {
        entities: ({ after }): Row[] => (after === undefined ? [{ id: keys[job.name] ?? 'only' }] : []),
        each: ({ id }, { slot }) => void ran.push(`${slot.job} ${id}`),
      }),
    ),
  )
  await waitUntil(async () => heard('run.ended').length >= jobs.length && (await ground.queued()).length === 0, {
    message: () => `the end of ${jobs.length} runs; ended: ${JSON.stringify(heard('run.ended'))}`,
  })
  await worker.stop()
  return { ran: ran.toSorted(), started: heard('run.started').length }
}

describe('promise 2, run once: five replicas, each a process', () => {
  let replicas: SpawnedProcess[]
  const tellers = (event: EventName, { slot }: SoonJob) =>
    replicas.filter((replica) => told(replica, event, slot).length > 0)
  beforeAll(async () => {
    ground = await openGround(server)
    // Whoever reaches a point first dies there, of each job one.
    const points = [
      { event: 'slot.claimed', job: 'claimed' },
      { event: 'slot.added', job: 'added' },
      { event: 'slot.enqueued', job: 'enqueued' },
    ] as const
    replicas = await Promise.all(Array.from({ length: REPLICAS }, () => ground.replica({ points })))
  })
  afterAll(() => ground.close())

  it('make one queue job and one run of a slot', async () => {
    const plain = soon('plain')
    await ground.register(plain.job)
    await recorded(plain)
    await waitUntil(() => tellers('slot.lost', plain).length === REPLICAS - 1, { message: 'the four that lost' })
    expect(tellers('slot.claimed', plain)).toHaveLength(1)
    expect(await ground.queued()).toEqual([plain.slot])
    expect(await runAll([plain])).toEqual({ ran: ['plain only'], started: 1 })
    expect(await slotsOf(plain)).toMatchObject([{ state: 'succeeded', claims: 1, starts: 1 }])
  })

  it('five jobs at one instant on one queue are five queue jobs, each with its own entity (C37)', async () => {
    const keys = { a: 'b-c', 'a-b': 'c', 'a-b-c': 'd', 'a/b': 'c-d', 'a:b': 'c:d' }
    const jobs = Object.keys(keys).map((name) => soon(name, 2_000))
    for (const { job } of jobs) await ground.register(job)
    await Promise.all(jobs.map(recorded))
    expect(await ground.queued()).toEqual(jobs.map(({ slot }) => slot).toSorted())
    const ran = Object.entries(keys).map(([name, key]) => `${name} ${key}`)
    expect(await runAll(jobs, keys)).toEqual({ ran: ran.toSorted(), started: 5 })
  })

  // C40, and the points after it. A replica fewer after each.
  it.each(['claimed', 'added', 'enqueued'])(
    'one killed when it has %s: within lease and sweep the slot is on the queue, once',
    async (name) => {
      const dying = soon(name)
      await ground.register(dying.job)
      const casualty = await waitUntil(() => tellers(`slot.${name}` as EventName, dying)[0], { message: 'a casualty' })
      expect(await casualty.exited).toEqual({ code: null, signal: 'SIGKILL' })
      const entry = await recorded(dying)
      expect((entry.enqueuedAt ?? Infinity) - dying.at).toBeLessThan(WITHIN_MS)
      expect(entry.claims).toBe(name === 'enqueued' ? 1 : 2)
      expect(await ground.queued()).toEqual([dying.slot])
      expect(await runAll([dying])).toEqual({ ran: [`${name} only`], started: 1 })
      expect(await slotsOf(dying)).toMatchObject([{ state: 'succeeded' }])
    },
  )
})

describe('promise 2, run once: replicas that come and go', () => {
  beforeEach(async () => {
    ground = await openGround(server)
  })
  afterEach(() => ground.close())

  it('the only one killed between its writes, twice: the one started after it goes on, and the slot runs once (C40)', async () => {
    const dying = [soon('claimed', 4_000), soon('added', 4_000)]
    for (const { job } of dying) await ground.register(job)
    // Both jobs are fired in one tick: the first process dies before any add, the second after both adds, before their records.
    const first = await ground.replica({ points: [{ event: 'slot.claimed', job: 'claimed' }] })
    await first.exited
    const second = await ground.replica({ points: [{ event: 'slot.added' }] })
    await second.exited
    for (const each of dying) expect(await slotsOf(each)).toMatchObject([{ state: 'claimed' }])
    expect(await ground.queued()).toEqual(dying.map(({ slot }) => slot).toSorted())
    await ground.replica({})
    for (const each of dying) expect((await recorded(each)).claims).toBeGreaterThanOrEqual(2)
    expect(await ground.queued()).toEqual(dying.map(({ slot }) => slot).toSorted())
    expect(await runAll(dying)).toEqual({ ran: ['added only', 'claimed only'], started: 2 })
  })

  it('one that froze between claim and add until the run had ended and was forgotten by the queue adds in vain (C41, C39)', async () => {
    const frozen = soon('frozen', 3_000)
    await ground.register(frozen.job)
    const points = [{ event: 'slot.claimed', job: 'frozen', signal: 'SIGSTOP' }] as const
    const replicas = await Promise.all([ground.replica({ points }), ground.replica({ points })])
    await recorded(frozen)
    const late = replicas.find((replica) => told(replica, 'slot.added', frozen.slot).length === 0)
    expect(await runAll([frozen])).toEqual({ ran: ['frozen only'], started: 1 })
    const ended = await slotsOf(frozen)
    late?.signal('SIGCONT')
    await late?.waitForLine(({ json }) => json?.['event'] === 'slot.enqueued')
    expect(await ground.queued()).toEqual([frozen.slot])
    const again = await ground.work([handle(frozen.job, { entities: () => [], each: () => undefined })])
    await waitUntil(async () => (await ground.queued()).length === 0, { message: 'its acknowledgement' })
    expect(again.told('task.acknowledged')).toMatchObject([{ slot: frozen.slot, reason: 'ended' }])
    expect(again.told('run.started')).toEqual([])
    expect(await slotsOf(frozen)).toEqual(ended)
  })

  it('two of one name, their clocks 90 s apart, fire each slot once and none before its time (C48, A1)', async () => {
    const ticking = jobOf({ name: 'ticking', schedule: every('1s'), onCrash: 'complete', overlap: 'allow' })
    const twins = await Promise.all(
      [45_000, -45_000].map((clockOffsetMs) => ground.replica({ id: 'twin', clockOffsetMs })),
    )
    await ground.register(ticking)
    const slots = await waitUntil(
      async () => {
        const all = (await listSlots(ground.store, 'ticking', { limit: 100 })).filter(
          ({ state }) => state === 'enqueued',
        )
        return all.length >= 5 ? all.toReversed() : undefined
      },
      { message: 'five slots' },
    )
    const [first] = slots
    expect(slots.map(({ at }) => at)).toEqual(slots.map((_, index) => (first?.at ?? 0) + index * 1_000))
    expect(slots.map(({ claims }) => claims)).toEqual(slots.map(() => 1))
    for (const { at, claimedAt = 0 } of slots) expect(claimedAt).toBeGreaterThanOrEqual(at)
    const claims = slots.map(({ slot }) => twins.flatMap((twin) => told(twin, 'slot.claimed', slot)).length)
    expect(claims).toEqual(slots.map(() => 1))
    await Promise.all(twins.map((twin) => twin.waitForLine(({ json }) => json?.['event'] === 'clock.skewed')))
  })

  it('one killed before and after the cut of an outage: every slot is accounted for once (T5, promise 3)', async () => {
    const schedule = every('1s')
    const catchUp = { mode: 'late', within: '1h', atMost: 2 } as const
    const job = jobOf({ name: 'outage', schedule, onCrash: 'complete', overlap: 'allow', catchUp })
    await ground.register(job)
    const { sinceAt = 0 } = (await readJob(ground.store, 'outage')) ?? {}
    const nowAt = () => readTime(ground.store)
    await waitUntil(async () => (await nowAt()) > sinceAt + 5_000, { message: 'an outage of five seconds' })
    const points = [{ event: 'slots.cut' }, { event: 'slot.claimed' }] as const
    // Two of them die on the way, perhaps before they are ready.
    await Promise.allSettled([1, 2, 3].map(() => ground.replica({ points })))
    expect(await ground.casualties()).toHaveLength(2)
    // T9: a backlog runs one after another, so somebody has to run it.
    const ran: string[] = []
    const each = (_: unknown, { slot }: { slot: { key: string } }) => void ran.push(slot.key)
    await ground.work([
      handle(job, { entities: ({ after }): Row[] => (after === undefined ? [{ id: 'only' }] : []), each }),
    ])
    const untilAt = await nowAt()
    await waitUntil(async () => ((await readJob(ground.store, 'outage'))?.watermarkAt ?? 0) >= untilAt, {
      message: 'everything recorded up to now',
      timeoutMs: 20_000,
    })
    const slots = (await listSlots(ground.store, 'outage', { limit: 200 })).filter(({ at }) => at <= untilAt)
    const gaps = await listGaps(ground.store, 'outage', { afterAt: 0, limit: 100 })
    const inGaps = (at: number) => gaps.filter(({ fromAt, toAt }) => at > fromAt && at <= toAt).length
    const records = Array.from(
      slotsBetween(schedule, sinceAt, untilAt),
      (at) => slots.filter((slot) => slot.at === at).length + inGaps(at),
    )
    expect(records.length).toBeGreaterThanOrEqual(5)
    expect(records).toEqual(records.map(() => 1))
    expect(gaps.length).toBeGreaterThanOrEqual(1)
    await waitUntil(() => slots.every(({ slot }) => ran.includes(slot)), { message: 'every recorded slot run' })
    expect(ran).toEqual([...new Set(ran)])
  })
})
