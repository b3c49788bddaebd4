import {
  countDeadLetters,
  discardDeadLetters,
  endDone,
  failPlan,
  foldHistory,
  listDeadLetterIdsOf,
  type RunRef,
  readDeadLetter,
  readSlot,
  redriveDeadLetters,
  startDone,
  takeReceipt,
  writeReceipt,
} from '@cronce/store'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createFleet, type Fleet } from '../support/fleet.ts'
import { type RedisServer, startRedis } from '../support/index.ts'
import {
  claim,
  died,
  doneLetterOf,
  enqueue,
  hold,
  idAt,
  keyOf,
  letterOf,
  MINUTE,
  minutely,
  plan,
  runAt,
  SECOND,
  slotAt,
  start,
  verdictsOf,
  WORKER,
} from './protocol-ground.ts'

let redis: RedisServer
let fleet: Fleet
let services = 0

beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())
beforeEach(async () => {
  services += 1
  fleet = createFleet({ url: redis.url, service: `letters-${services}` })
  await fleet.leave(await fleet.join('a', [minutely()]))
})
afterEach(() => fleet.close())

const redrive = (run: RunRef, ids: readonly string[]) =>
  redriveDeadLetters(fleet.store, run, { ids, by: 'ann', abandonedToo: false })

const entryOf = async (run: RunRef) => (await readSlot(fleet.store, run.job, run.id))!

/** The run of minute 1 on the queue. */
async function firstRun(): Promise<RunRef> {
  fleet.clock.set(slotAt(1) + SECOND)
  await enqueue(fleet.store, [1])
  return runAt(1)
}

/** The slot of minute 2 comes due, and ends the run before it. */
async function cancelByNext(): Promise<void> {
  fleet.clock.set(slotAt(2) + SECOND)
  expect(verdictsOf(await claim(fleet.store, [1, 2], { overlap: 'cancel-previous' }))).toContain('waiting')
}

describe('a run that is cancelled by the next one', () => {
  it('gives a dead letter back that was redriven and had not run: it is open again', async () => {
    const run = await firstRun()
    await plan(fleet.store, run, { pages: [['a', 'b'], ['c']] })
    const first = await hold(fleet.store, run, 0)
    await first.settle({ done: [0], failures: [died(run, 1, { entity: 'b' })] })
    expect(await redrive(run, [letterOf(run, 'b')])).toMatchObject({ status: 'redriven', chunk: 2 })
    await hold(fleet.store, run, 1)
    await cancelByNext()
    expect(await readDeadLetter(fleet.store, 'job', letterOf(run, 'b'))).toMatchObject({ state: 'open', lives: 1 })
    expect(await countDeadLetters(fleet.store, 'job')).toBe(1)
    expect(await entryOf(run)).toMatchObject({
      ...{ state: 'partial', entities: { planned: 3, done: 1, dead: 1, skipped: 1 } },
    })
  })

  it('runs nothing but its dead letter when that is redriven, and ends as what it is, a part', async () => {
    const run = await firstRun()
    await plan(fleet.store, run, {
      pages: [
        ['a', 'b'],
        ['c', 'd'],
      ],
      complete: false,
    })
    const first = await hold(fleet.store, run, 0)
    await first.settle({ done: [0], failures: [died(run, 1, { entity: 'b' })] })
    await hold(fleet.store, run, 1)
    await cancelByNext()
    expect(await redrive(run, [letterOf(run, 'b')])).toMatchObject({ status: 'redriven', chunk: 2, step: 0 })
    expect(await start(fleet.store, run)).toMatchObject({ status: 'planned', openChunks: [2] })
    const again = await hold(fleet.store, run, 2)
    expect(await again.settle({ done: [0] })).toMatchObject({ status: 'closed', ended: { state: 'partial' } })
    expect(await entryOf(run)).toMatchObject({
      ...{ state: 'partial', entities: { planned: 4, done: 2, dead: 0, skipped: 2 } },
    })
    expect(await countDeadLetters(fleet.store, 'job')).toBe(0)
  })
})

describe('an effect that is under way when its entity dies', () => {
  it('has its receipt where the redrive looks for it, whether its chunk is still open or closed by then', async () => {
    const run = await firstRun()
    await plan(fleet.store, run, { pages: [['a', 'b', 'c']] })
    const first = await hold(fleet.store, run, 0)
    const effectOf = (entity: string, chunk: number) => ({ ...run, chunk, entity, effect: 'invoice' })
    const leaseMs = 30 * SECOND
    for (const entity of ['b', 'c']) {
      const lease = { fence: first.fence, token: `of-${entity}`, leaseMs }
      expect(await takeReceipt(fleet.store, effectOf(entity, 0), lease)).toMatchObject({ status: 'taken' })
    }
    await first.settle({
      failures: [died(run, 1, { entity: 'b', reason: 'timeout' }), died(run, 2, { entity: 'c', reason: 'timeout' })],
    })
    expect(await writeReceipt(fleet.store, effectOf('b', 0), 'of-b')).toBe('written')
    await first.settle({ done: [0] })
    expect(await writeReceipt(fleet.store, effectOf('c', 0), 'of-c')).toBe('written')
    await redrive(run, [letterOf(run, 'b'), letterOf(run, 'c')])
    const again = await hold(fleet.store, run, 1)
    for (const entity of ['b', 'c']) {
      const lease = { fence: again.fence, token: 'again', leaseMs }
      expect(await takeReceipt(fleet.store, effectOf(entity, 1), lease)).toMatchObject({ status: 'done' })
    }
  })
})

describe('a dead letter that is open', () => {
  it('keeps plan, members and receipts of its run from expiring, until it is settled', async () => {
    const run = await firstRun()
    await plan(fleet.store, run, { pages: [['a', 'b']] })
    const first = await hold(fleet.store, run, 0)
    const effect = { ...run, chunk: 0, entity: 'b', effect: 'invoice' }
    await takeReceipt(fleet.store, effect, { fence: first.fence, token: 't', leaseMs: SECOND })
    await writeReceipt(fleet.store, effect, 't')
    await first.settle({ done: [0], failures: [died(run, 1, { entity: 'b' })] })
    const ttls = () =>
      Promise.all(['plan', 'members', 'kept'].map((kind) => fleet.redis.pttl(keyOf(fleet.store, `${kind}:${run.id}`))))
    expect(await ttls()).toEqual([-1, -1, -1])
    await redrive(run, [letterOf(run, 'b')])
    const again = await hold(fleet.store, run, 1)
    await again.settle({ done: [0] })
    for (const ttl of await ttls()) expect(ttl).toBeGreaterThan(0)
  })

  it('of a plan that is gone is not redriven: it would plan again what was done', async () => {
    const run = await firstRun()
    const fence = await plan(fleet.store, run, { pages: [['a']], complete: false })
    const first = await hold(fleet.store, run, 0)
    await first.settle({ done: [0] })
    const failure = { ...WORKER, fence, attemptsAllowed: 1, error: '{}', deadLetterId: letterOf(run) }
    expect(await failPlan(fleet.store, run, failure)).toMatchObject({ status: 'failed', ended: { state: 'partial' } })
    await fleet.redis.del(keyOf(fleet.store, `plan:${run.id}`), keyOf(fleet.store, `members:${run.id}`))
    expect(await redrive(run, [letterOf(run)])).toMatchObject({ status: 'none', step: 0 })
    expect(await start(fleet.store, run)).toMatchObject({ status: 'ended' })
    expect(await readDeadLetter(fleet.store, 'job', letterOf(run))).toMatchObject({ state: 'open' })
  })

  it('keeps its slot in detail, and no other: folding goes on past it; settled, it goes with its slot', async () => {
    const { store, clock, redis: client } = fleet
    const [first, second] = [await firstRun(), runAt(2)]
    fleet.clock.set(slotAt(2) + SECOND)
    await enqueue(store, [2])
    for (const run of [first, second]) {
      await plan(store, run, { pages: [['a']] })
      await (await hold(store, run)).settle({ failures: [died(run, 0, { entity: 'a' })] })
    }
    const held = 1_200
    const rows = client.pipeline()
    for (let minute = 3; minute <= held + 10; minute++) {
      const letters = minute <= held ? 1 : 0
      rows.hset(keyOf(store, `slot:${idAt(minute)}`), 'at', slotAt(minute), 'state', 'partial', 'letters', letters)
      rows.zadd(keyOf(store, 'slots'), slotAt(minute), idAt(minute))
    }
    await rows.exec()
    clock.set(slotAt(held + 20))
    await client.hset(keyOf(store, 'job'), 'watermark', clock.now())
    const bounds = { detailMs: MINUTE, detailSlots: 2_000, days: 400 }
    const fold = () => foldHistory(store, 'job', { now: clock.now(), bounds })
    expect(await fold()).toMatchObject({ folded: 0, detail: held + 10 })
    expect(await fold()).toMatchObject({ folded: 10, detail: held })
    expect(await fold()).toMatchObject({ folded: 0, detail: held })
    expect(await fold()).toMatchObject({ folded: 0, detail: held })
    await redrive(first, [letterOf(first, 'a')])
    await (await hold(store, first, 1)).settle({ done: [0] })
    await discardDeadLetters(store, 'job', { ids: [letterOf(second, 'a')], by: 'ann', reason: 'no' })
    expect(await fold()).toMatchObject({ folded: 2, detail: held - 2 })
    for (const run of [first, second]) {
      expect(await readDeadLetter(store, 'job', letterOf(run, 'a'))).toBeUndefined()
      expect(await listDeadLetterIdsOf(store, run, { offset: 0, limit: 10 })).toEqual([])
      expect(await fleet.redis.keys(`${keyOf(store, `dead:${letterOf(run, 'a')}`)}*`)).toEqual([])
    }
    expect(await countDeadLetters(store, 'job')).toBe(0)
  })
})

describe('`done`', () => {
  /** A run that has ended and owes its `done`. */
  async function owedDone(): Promise<RunRef> {
    const run = await firstRun()
    await plan(fleet.store, run, { pages: [['a', 'b']], hasDone: true })
    const first = await hold(fleet.store, run, 0)
    await first.settle({ done: [0], failures: [died(run, 1, { entity: 'b' })] })
    return run
  }
  const startOnce = (run: RunRef, token = 'first') => startDone(fleet.store, run, { version: 1, worker: 'w', token })
  const end = (run: RunRef, verdict: 'done' | 'dead', attempt: number) =>
    endDone(fleet.store, run, {
      ...{ ...WORKER, version: 1, verdict, attempt },
      ...{ error: verdict === 'dead' ? '{}' : '', deadLetterId: doneLetterOf(run) },
    })

  it('of an attempt that stalled ends nothing for the newer one by failing', async () => {
    const run = await owedDone()
    const [late, newer] = [await startOnce(run), await startOnce(run, 'second')]
    expect(await end(run, 'dead', late.attempt)).toBe('stale')
    expect(await readDeadLetter(fleet.store, 'job', doneLetterOf(run))).toBeUndefined()
    expect(await end(run, 'done', newer.attempt)).toBe('written')
    expect(await startOnce(run)).toMatchObject({ status: 'stale' })
    expect(await countDeadLetters(fleet.store, 'job')).toBe(1)
  })

  it('that failed is not redriven while its run is on its way again: a newer one follows its end', async () => {
    const run = await owedDone()
    const { attempt } = await startOnce(run)
    await end(run, 'dead', attempt)
    // Its entity first; whoever redrives everything names both.
    await redrive(run, [letterOf(run, 'b')])
    const letter = (await readDeadLetter(fleet.store, 'job', doneLetterOf(run)))!
    expect(letter.state).toBe('resolved')
    expect(await redrive(run, [doneLetterOf(run)])).toMatchObject({ status: 'none', doneVersion: 0 })
    expect(await fleet.redis.zcard(keyOf(fleet.store, 'done'))).toBe(0)
    await (await hold(fleet.store, run, 1)).settle({ done: [0] })
    expect(await startDone(fleet.store, run, { version: 2, worker: 'w', token: 'third' })).toMatchObject({
      status: 'run',
    })
    expect(await startOnce(run)).toMatchObject({ status: 'stale' })
  })
})
