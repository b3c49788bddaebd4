import { cron, defineJob, formatDoneLetterId, seededRandom } from '@cronce/core'
import { redrive, runSlot, type ServiceAccess } from '@cronce/operations'
import { jobKey, readDeadLetter } from '@cronce/store'
import { handle, NonRetryableError } from '@cronce/worker'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { OPERATOR } from '../support/by-hand.ts'
import { type RedisServer, startRedis, waitUntil } from '../support/index.ts'
import { openStage, type Stage } from '../support/worker-stage.ts'

let server: RedisServer
let stage: Stage
let access: ServiceAccess
beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())
beforeEach(() => {
  stage = openStage(server)
  access = { store: stage.store, enqueuer: stage.enqueuer, random: seededRandom(1) }
})
afterEach(() => stage.close())

const job = defineJob({
  name: 'billing',
  schedule: cron('0 2 * * *'),
  onCrash: 'complete',
  entity: { schema: z.object({ id: z.string() }), key: ({ id }) => id },
  chunk: { size: 10, concurrency: 1 },
  retry: { attempts: 1 },
})

/** A source that grows, a handler that fails for some, and how often each effect happened. */
function book() {
  const state = { source: ['a', 'b', 'c'], bad: ['b'], badDone: false }
  const effects: string[] = []
  const handler = handle(job, {
    entities: () => ({ entities: state.source.map((id) => ({ id })), next: null }),
    each: async ({ id }, ctx) => {
      await ctx.once('charge', async () => void effects.push(id))
      if (state.bad.includes(id)) throw new NonRetryableError(`no ${id}`)
    },
    done: () => {
      if (state.badDone) throw new NonRetryableError('no mail')
    },
  })
  return { state, effects, handler }
}

describe('a forced run of a slot that has ended', () => {
  it('does what the source has gained and what died of it, and repeats no effect that has a receipt', async () => {
    const { state, effects, handler } = book()
    await stage.work([handler])
    const run = await stage.start(job)
    expect((await stage.ended(run)).entities).toMatchObject({ planned: 3, done: 2, dead: 1 })
    const ask = { job: job.name, slot: run.slot, operator: OPERATOR }
    await expect(runSlot(access, ask)).rejects.toMatchObject({
      code: 'CRONCE_SLOT_DONE',
      message:
        'already partial; "cronce dead retry" repeats what failed, --force walks the plan again for what has no receipt',
    })
    state.source.push('d')
    state.bad = []
    const walked = await runSlot(access, { ...ask, ended: 'walk-again', why: 'late bookings' })
    expect(walked).toMatchObject({ status: 'walking', redriven: 1, abandonedLeft: 0 })
    const again = await stage.ended(run, { version: 2 })
    expect(again).toMatchObject({ state: 'succeeded', entities: { planned: 4, done: 4, dead: 0, duplicates: 0 } })
    expect(effects.toSorted()).toEqual(['a', 'b', 'c', 'd'])
    expect(await readDeadLetter(stage.store, job.name, `${run.slot}/b`)).toMatchObject({ state: 'resolved' })
    // A second time there is nothing left to do, and nothing is done.
    await runSlot(access, { ...ask, ended: 'walk-again' })
    expect(await stage.ended(run, { version: 3 })).toMatchObject({ state: 'succeeded', entities: again.entities })
    expect(effects.length).toBe(4)
  })

  it('is refused when what it did is not remembered any more', async () => {
    const { effects, handler } = book()
    await stage.work([handler])
    const run = await stage.start(job)
    const before = await stage.ended(run)
    await stage.redis.del(`${jobKey(stage.service, job.name)}:members:${run.id}`)
    const ask = { job: job.name, slot: run.slot, operator: OPERATOR, ended: 'walk-again' as const }
    await expect(runSlot(access, ask)).rejects.toMatchObject({ code: 'CRONCE_FOLD_MISSING' })
    expect(await stage.read(run)).toEqual(before)
    expect(effects.length).toBe(3)
  })

  it('walks a plan again that had nothing, for there is nothing that could be done twice', async () => {
    const { state, effects, handler } = book()
    state.source = []
    await stage.work([handler])
    const run = await stage.start(job)
    expect(await stage.ended(run)).toMatchObject({ state: 'succeeded', entities: { planned: 0 } })
    state.source = ['a']
    await runSlot(access, { job: job.name, slot: run.slot, operator: OPERATOR, ended: 'walk-again' })
    expect(await stage.ended(run, { version: 2 })).toMatchObject({
      state: 'succeeded',
      entities: { planned: 1, done: 1 },
    })
    expect(effects).toEqual(['a'])
  })
})

describe('the dead letter of a done that failed', () => {
  const letter = (slot: Parameters<typeof formatDoneLetterId>[0]) =>
    waitUntil(() => readDeadLetter(stage.store, job.name, formatDoneLetterId(slot)), { message: 'its dead letter' })

  it('is resolved when its redrive succeeds', async () => {
    const { state, handler } = book()
    state.bad = []
    state.badDone = true
    await stage.work([handler])
    const run = await stage.start(job)
    expect(await letter(run.slot)).toMatchObject({ state: 'open', reason: 'done' })
    state.badDone = false
    const selection = { slot: run.slot }
    expect(await redrive(access, { selection, operator: OPERATOR, mode: 'redrive' })).toMatchObject({ entities: 1 })
    await waitUntil(async () => (await letter(run.slot)).state === 'resolved', { message: 'the letter is resolved' })
    expect((await stage.read(run)).version).toBe(1)
  })

  it('is settled by a redrive of the entities, whose newer outcome it is about no more', async () => {
    const { state, handler } = book()
    state.badDone = true
    await stage.work([handler])
    const run = await stage.start(job)
    expect(await letter(run.slot)).toMatchObject({ state: 'open' })
    state.bad = []
    const selection = { ids: [`${run.slot}/b`] }
    expect(await redrive(access, { selection, operator: OPERATOR, mode: 'redrive' })).toMatchObject({ entities: 1 })
    expect((await letter(run.slot)).lives).toBeGreaterThan(0)
    await stage.ended(run, { version: 2 })
    // The newer outcome has a done of its own, and a letter again where that fails.
    await waitUntil(async () => (await letter(run.slot)).lives === 2, { message: 'it died again' })
    expect(await letter(run.slot)).toMatchObject({ state: 'open' })
    state.badDone = false
    await redrive(access, { selection: { slot: run.slot }, operator: OPERATOR, mode: 'redrive' })
    await waitUntil(async () => (await letter(run.slot)).state === 'resolved', { message: 'the letter is resolved' })
  })
})
