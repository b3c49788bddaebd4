import {
  claimManual,
  endDone,
  failPlan,
  type MemberFailure,
  type RunRef,
  readDeadLetter,
  readSlot,
  readSlotEvents,
  recordSlots,
  redriveDeadLetters,
  settleChunk,
  startChunk,
  startDone,
  takeReceipt,
} from '@cronce/store'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createFleet, type Fleet, NOON } from '../support/fleet.ts'
import { type RedisServer, startRedis } from '../support/index.ts'
import {
  claim,
  died,
  doneLetterOf,
  dueAt,
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
  fleet = createFleet({ url: redis.url, service: `resent-${services}` })
  await fleet.leave(await fleet.join('a', [minutely()]))
  fleet.clock.set(slotAt(1) + SECOND)
})
afterEach(() => fleet.close())

const run = runAt(1)
const entryOf = async (ref: RunRef = run) => (await readSlot(fleet.store, ref.job, ref.id))!

/** What a connection does that lost the answer: it sends the command again. */
async function twice<T>(send: () => Promise<T>): Promise<[T, T]> {
  return [await send(), await send()]
}

describe('a command whose answer was lost, sent again, counts once', () => {
  it('a claim: the slot is still its own', async () => {
    const answers = await twice(() => claim(fleet.store, [1], { token: 'mine', watermarkAt: NOON }))
    expect(answers.map(verdictsOf)).toEqual([['claimed'], ['claimed']])
    expect(answers[1].slots[0]).toMatchObject({ by: 'a', untilAt: fleet.clock.now() + 10 * SECOND })
    expect(await entryOf()).toMatchObject({ state: 'claimed', claims: 1 })
    expect(verdictsOf(await claim(fleet.store, [1], { token: 'other', watermarkAt: NOON }))).toEqual(['held'])
  })

  it('a record: the slot is enqueued once', async () => {
    await claim(fleet.store, [1])
    const request = { job: 'job', added: [{ id: idAt(1) }], replica: 'a', markerMs: MINUTE, foreign: false }
    const place = { queue: 'default', version: 1, slots: [dueAt(1)] }
    expect(await twice(() => recordSlots(fleet.store, { ...request, ...place }))).toEqual([slotAt(1), slotAt(1)])
    const events = await readSlotEvents(fleet.store, 'job', idAt(1))
    expect(events.map(({ event }) => event)).toEqual(['claimed', 'enqueued'])
  })

  it('a run by hand without a request id: one run', async () => {
    const request = { instant: idAt(1), at: slotAt(1), token: 'mine', leaseMs: SECOND, by: 'ann', release: 'r' }
    const [first, again] = await twice(() => claimManual(fleet.store, 'job', request))
    expect([first.status, again.status]).toEqual(['claimed', 'repeated'])
    expect(again.id).toBe(first.id)
    expect(await fleet.slots('job')).toHaveLength(1)
    const other = await claimManual(fleet.store, 'job', { ...request, token: 'other' })
    expect(other.status).toBe('claimed')
    expect(await fleet.slots('job')).toHaveLength(2)
  })

  it('a failure of the plan: one attempt, and out of attempts one life', async () => {
    await enqueue(fleet.store, [1])
    const fail = async (attemptsAllowed: number) => {
      const { fence } = await start(fleet.store, run)
      const failure = { ...WORKER, fence, attemptsAllowed, error: '{"message":"no"}', deadLetterId: letterOf(run) }
      return await twice(() => failPlan(fleet.store, run, failure))
    }
    const retried = await fail(3)
    expect(retried.map(({ status, attempts }) => [status, attempts])).toEqual([
      ['retry', 1],
      ['retry', 1],
    ])
    const failed = await fail(2)
    expect(failed.map(({ status, attempts }) => [status, attempts])).toEqual([
      ['failed', 2],
      ['failed', 2],
    ])
    expect(await readDeadLetter(fleet.store, 'job', letterOf(run))).toMatchObject({ attempts: 2, lives: 1 })
    expect((await readDeadLetter(fleet.store, 'job', letterOf(run)))?.errors).toHaveLength(2)
  })

  it('the start of a chunk: no crash', async () => {
    await enqueue(fleet.store, [1])
    await plan(fleet.store, run, { pages: [['a']] })
    const [, again] = await twice(() => startChunk(fleet.store, run, { number: 0, worker: 'w', token: 'mine' }))
    expect(again).toMatchObject({ status: 'run', crashed: false, crashes: 0 })
    const other = await startChunk(fleet.store, run, { number: 0, worker: 'w', token: 'other' })
    expect(other).toMatchObject({ status: 'run', crashed: true, crashes: 1 })
  })

  it('a settlement: one retry with one error, one death, and as many attempts as there were', async () => {
    await enqueue(fleet.store, [1])
    await plan(fleet.store, run, { pages: [['a', 'b', 'c']] })
    const { fence } = await hold(fleet.store, run)
    const retry = (attempts: number, nextAttemptAt: number): MemberFailure => {
      return { ...died(run, 0, { entity: 'a' }), verdict: 'retry', attempts, nextAttemptAt }
    }
    const settle = (failures: readonly MemberFailure[], done: readonly number[] = []) =>
      twice(() =>
        settleChunk(fleet.store, run, {
          ...{ ...WORKER, number: 0, fence, done, failures },
          ...{ started: [], alone: false, handBack: false },
        }),
      )
    const later = fleet.clock.now() + SECOND
    await settle([retry(1, later), died(run, 1, { entity: 'b' })], [2])
    expect(await entryOf()).toMatchObject({ retries: 1, entities: { done: 1, dead: 1 } })
    // Two attempts may end in one millisecond, to be tried again at once.
    await settle([retry(2, later)])
    expect(await entryOf()).toMatchObject({ retries: 2 })
    expect(await fleet.redis.llen(keyOf(fleet.store, `errors:${run.id}:0:0`))).toBe(2)
    const [closed, gone] = await settle([died(run, 0, { entity: 'a' })])
    expect([closed.status, gone.status]).toEqual(['closed', 'gone'])
    expect(await readDeadLetter(fleet.store, 'job', letterOf(run, 'b'))).toMatchObject({ lives: 1 })
    expect(await entryOf()).toMatchObject({ state: 'partial', version: 1, entities: { done: 1, dead: 2 } })
  })

  it('the lease of an effect: it is its own', async () => {
    await enqueue(fleet.store, [1])
    await plan(fleet.store, run, { pages: [['a']] })
    const { fence } = await hold(fleet.store, run)
    const effect = { ...run, chunk: 0, entity: 'a', effect: 'invoice' }
    const take = (token: string) => takeReceipt(fleet.store, effect, { fence, token, leaseMs: 30 * SECOND })
    const answers = await twice(() => take('mine'))
    expect(answers.map(({ status }) => status)).toEqual(['taken', 'taken'])
    expect(answers[1].untilAt).toBe(answers[0].untilAt)
    expect(await take('other')).toMatchObject({ status: 'leased' })
  })

  it('a redrive, and the start and end of a `done`: one of each', async () => {
    await enqueue(fleet.store, [1])
    await plan(fleet.store, run, { pages: [['a', 'b']], hasDone: true })
    const first = await hold(fleet.store, run)
    await first.settle({ done: [0], failures: [died(run, 1, { entity: 'b' })] })
    const begin = (token: string) => startDone(fleet.store, run, { version: 1, worker: 'w', token })
    const starts = await twice(() => begin('mine'))
    expect(starts.map(({ attempt }) => attempt)).toEqual([1, 1])
    const { attempt } = await begin('other')
    expect(attempt).toBe(2)
    const end = { ...WORKER, version: 1, verdict: 'dead' as const, attempt, error: '{}' }
    const ends = await twice(() => endDone(fleet.store, run, { ...end, deadLetterId: doneLetterOf(run) }))
    expect(ends).toEqual(['written', 'stale'])
    expect(await readDeadLetter(fleet.store, 'job', doneLetterOf(run))).toMatchObject({ lives: 1 })
    const request = { ids: [letterOf(run, 'b')], by: 'ann', abandonedToo: false }
    const redrives = await twice(() => redriveDeadLetters(fleet.store, run, request))
    expect(redrives.map(({ status, count }) => [status, count])).toEqual([
      ['redriven', 1],
      ['none', 0],
    ])
    expect(await fleet.redis.zcard(keyOf(fleet.store, `chunks:${run.id}`))).toBe(1)
  })
})
