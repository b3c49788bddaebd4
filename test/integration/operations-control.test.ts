import { cron, defineJob, type JobDefinition } from '@cronce/core'
import { auditService, jobHistory, pauseJob, pinImage, resumeJob, runNow, type ServiceAccess } from '@cronce/operations'
import { listGaps, readJob } from '@cronce/store'
import { describe, expect, it } from 'vitest'
import { OPERATOR, workAll } from '../support/by-hand.ts'
import { type Fleet, NOON } from '../support/fleet.ts'
import { standOnGround } from '../support/operations-ground.ts'
import { startRun } from '../support/play-worker.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

let fleet: Fleet
let access: ServiceAccess
standOnGround('control', (ground) => {
  ;({ fleet, access } = ground)
})

function job(expression: string, extra: object = {}): JobDefinition {
  const catchUp = { mode: 'late' as const, within: '6h', atMost: 2 }
  return defineJob({
    name: 'job',
    schedule: cron(expression),
    onCrash: 'complete',
    overlap: 'allow',
    catchUp,
    ...extra,
  })
}

const states = async () => (await fleet.slots('job')).map(({ id, state }) => `${id.slice(9, 13)} ${state}`)
const gaps = async () =>
  (await listGaps(fleet.store, 'job', { afterAt: 0, limit: 10 })).map(({ count, state, reason }) => [
    count,
    state,
    reason,
  ])
const outcome = async () => (await auditService(fleet.store, { fromAt: NOON - HOUR, toAt: fleet.clock.now() })).outcome

describe('a pause', () => {
  it('stops starts, never a run under way nor a run by hand, and says who, why and until when', async () => {
    await fleet.join('a', [job('*/10 * * * *')])
    await fleet.advance(10 * MINUTE, 5_000)
    const running = await startRun(fleet.store, 'job', { holdChunk: true })
    const paused = await pauseJob(access, {
      job: 'job',
      operator: { name: 'ann' },
      note: 'migration',
      until: { afterMs: HOUR },
    })
    expect(paused).toMatchObject({
      status: 'paused',
      pause: { by: 'ann', note: 'migration', untilAt: NOON + 70 * MINUTE, missed: 'skip' },
    })
    expect(await running.settle()).toBe('closed')
    await runNow(access, { job: 'job', operator: OPERATOR })
    await workAll(fleet.store, 'job')
    await fleet.advance(30 * MINUTE, 30_000)
    expect((await fleet.slots('job')).map(({ state }) => state)).toEqual(['succeeded', 'succeeded'])
    expect(await pauseJob(access, { job: 'job', operator: OPERATOR })).toMatchObject({
      status: 'already',
      pause: { by: 'ann' },
    })
    expect(await outcome()).toBe('adds-up')
  })

  it('ends by itself within a sweep of its instant, long before the next slot', async () => {
    await fleet.join('a', [job('0 * * * *')])
    await pauseJob(access, {
      ...{ job: 'job', operator: { name: 'ann' }, missed: 'catch-up' as const },
      until: { at: NOON + 2 * HOUR + 10 * MINUTE },
    })
    await fleet.advance(2 * HOUR + 9 * MINUTE, 60_000)
    expect(await states()).toEqual([])
    await fleet.advance(MINUTE + 30_000, 5_000)
    // Backlog runs one after another.
    expect(await states()).toEqual(['1300 enqueued', '1400 due'])
    expect((await readJob(fleet.store, 'job'))?.pause).toBeUndefined()
    expect(await outcome()).toBe('adds-up')
  })

  it('that is resumed drops what was missed as one gap in its author’s name, or catches up where its end says so', async () => {
    await fleet.join('a', [job('*/10 * * * *')])
    await pauseJob(access, { job: 'job', operator: { name: 'ann' }, note: 'migration' })
    await fleet.advance(35 * MINUTE, 30_000)
    expect(await resumeJob(access, { job: 'job', operator: OPERATOR })).toMatchObject({ status: 'resuming' })
    await fleet.advance(30_000, 5_000)
    expect(await gaps()).toEqual([[3, 'skipped', 'paused by ann: migration']])
    expect(await resumeJob(access, { job: 'job', operator: OPERATOR })).toMatchObject({ status: 'already' })
    await pauseJob(access, { job: 'job', operator: { name: 'ann' } })
    await fleet.advance(35 * MINUTE, 30_000)
    await resumeJob(access, { job: 'job', operator: OPERATOR, missed: 'catch-up' })
    await fleet.advance(30_000, 5_000)
    // At most two, by its catch-up policy.
    expect(await states()).toEqual(['1300 enqueued', '1310 due'])
    await workAll(fleet.store, 'job')
    await fleet.advance(10_000, 5_000)
    expect(await states()).toEqual(['1300 succeeded', '1310 enqueued'])
    expect(await outcome()).toBe('adds-up')
  })
})

describe('a resume of the pause that was seen', () => {
  it('leaves a later pause as it is, and ends the one that it means', async () => {
    await fleet.join('a', [job('0 * * * *')])
    const seen = await pauseJob(access, { job: 'job', operator: { name: 'ann' }, note: 'migration' })
    await resumeJob(access, { job: 'job', operator: OPERATOR })
    await fleet.advance(30_000, 5_000)
    const later = await pauseJob(access, { job: 'job', operator: { name: 'bob' }, note: 'bank is shut' })
    const resume = (pausedAt: number | undefined) => resumeJob(access, { job: 'job', operator: OPERATOR, pausedAt })
    expect(await resume(seen.pause?.at)).toMatchObject({ status: 'other', pause: { by: 'bob', state: 'paused' } })
    expect((await readJob(fleet.store, 'job'))?.pause).toEqual(later.pause)
    expect(await resume(later.pause?.at)).toMatchObject({ status: 'resuming' })
    await fleet.advance(30_000, 5_000)
    expect((await readJob(fleet.store, 'job'))?.pause).toBeUndefined()
    expect(await resume(later.pause?.at)).toMatchObject({ status: 'already' })
  })
})

describe('an image that is pinned', () => {
  it('is in force from then on, as long as a replica carries it', async () => {
    await fleet.join('old', [job('*/10 * * * *')])
    fleet.clock.advance(1_000)
    const bad = await fleet.join('bad', [job('*/3 * * * *')])
    await fleet.advance(5 * MINUTE, 5_000)
    const { generations } = await jobHistory(fleet.store, 'job')
    const [first, second] = generations
    expect(await pinImage(access, { job: 'job', image: first?.image ?? '', operator: OPERATOR })).toMatchObject({
      status: 'pinned',
    })
    await fleet.advance(20 * MINUTE, 5_000)
    expect(await states()).toEqual(['1203 enqueued', '1210 enqueued', '1220 enqueued'])
    await expect(pinImage(access, { job: 'job', image: 'none', operator: OPERATOR })).rejects.toMatchObject({
      code: 'CRONCE_INPUT_INVALID',
    })
    const history = await jobHistory(fleet.store, 'job')
    expect(history.generations.map(({ image }) => image)).toEqual([first?.image, second?.image, first?.image])
    expect(history.events.find(({ event }) => event === 'pin')).toMatchObject({ by: 'kim', note: first?.image })
    await fleet.leave(bad)
    await fleet.advance(10 * MINUTE, 5_000)
    expect((await states()).at(-1)).toBe('1230 enqueued')
    expect(await outcome()).toBe('adds-up')
  })
})

describe('the history of a job', () => {
  it('tells in one order of time who registered, edited, changed, paused and resumed it', async () => {
    const first = await fleet.join('pod-1', [job('*/10 * * * *')])
    await fleet.advance(MINUTE, 5_000)
    await fleet.join('pod-2', [job('*/15 * * * *')])
    await fleet.leave(first)
    await fleet.advance(MINUTE, 5_000)
    await pauseJob(access, { job: 'job', operator: { name: 'ann' }, note: 'incident' })
    await fleet.advance(MINUTE, 5_000)
    await resumeJob(access, { job: 'job', operator: { name: 'bob' }, note: 'over' })
    await fleet.advance(MINUTE, 5_000)
    await fleet.join('pod-3', [job('*/15 * * * *', { retry: { attempts: 9 } })])
    const { events, generations } = await jobHistory(fleet.store, 'job')
    expect(events.map(({ event, by, note }) => [event, by, note])).toEqual([
      ['registered', 'pod-1', 'generation 1'],
      ['edited', 'pod-2', 'generation 2'],
      ['paused', 'ann', 'incident'],
      ['resumed', 'bob', 'over'],
      ['changed', 'pod-3', ''],
    ])
    expect(generations.map(({ untilAt }) => untilAt)).toEqual([NOON + MINUTE, undefined])
    await expect(jobHistory(fleet.store, 'jbo')).rejects.toMatchObject({ code: 'CRONCE_JOB_UNKNOWN' })
  })
})
