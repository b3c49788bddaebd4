import { cron, defineJob, formatSlotId, type JobDefinition } from '@cronce/core'
import {
  auditService,
  type BackfillProgress,
  type BackfillRequest,
  type BackfillResult,
  backfill,
  planBackfill,
  runSlot,
  type ServiceAccess,
} from '@cronce/operations'
import { type LedgerEntry, listSlots, readSlotEvents } from '@cronce/store'
import { describe, expect, it } from 'vitest'
import { OPERATOR, workAll } from '../support/by-hand.ts'
import { type Fleet, NOON } from '../support/fleet.ts'
import { standOnGround } from '../support/operations-ground.ts'
import { startRun } from '../support/play-worker.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

let fleet: Fleet
let access: ServiceAccess
standOnGround('backfill', (ground) => {
  ;({ fleet, access } = ground)
})

function hourly(extra: object = {}): JobDefinition {
  const catchUp = { mode: 'skip' as const, within: '1h', atMost: 1 }
  return defineJob({ name: 'job', schedule: cron('0 * * * *'), onCrash: 'complete', catchUp, ...extra })
}

/** 13:00 to 22:00 did not run; it is 22:30. */
async function missTen(job = hourly()): Promise<void> {
  await fleet.join('a', [job])
  fleet.clock.advance(10 * HOUR + 30 * MINUTE)
  await fleet.tick()
  await fleet.sweep()
}

const RANGE = { job: 'job', fromAt: NOON, toAt: NOON + 11 * HOUR }
const request = (extra: Partial<BackfillRequest> = {}): BackfillRequest => ({
  ...{ ...RANGE, operator: OPERATOR, clock: fleet.clock },
  ...extra,
})

/** Moves the clock, with a worker at work, until all of them have ended. */
async function drive(...asked: Promise<BackfillResult>[]): Promise<BackfillResult[]> {
  const work = { isOpen: true }
  const all = Promise.all(asked).finally(() => {
    work.isOpen = false
  })
  all.catch(() => undefined)
  while (work.isOpen) {
    await workAll(fleet.store, 'job')
    fleet.clock.advance(250)
  }
  return await all
}

const slots = (): Promise<LedgerEntry[]> => fleet.slots('job')
/** That every slot that ran did so once: one claim, one start, one end. */
const ranOnce = async () =>
  (await slots()).every((slot) => slot.claims === 1 && slot.starts === 1 && slot.version === 1)
const outcome = async () => (await auditService(fleet.store, { fromAt: NOON - DAY, toAt: fleet.clock.now() })).outcome

describe('a preview', () => {
  it('counts what would run, what is done, under way and refused, and changes nothing', async () => {
    await missTen()
    const at = (hours: number) => formatSlotId(NOON + hours * HOUR)
    await runSlot(access, { job: 'job', slot: at(2), operator: OPERATOR })
    await workAll(fleet.store, 'job')
    await runSlot(access, { job: 'job', slot: at(3), operator: OPERATOR })
    const before = await slots()
    const plan = await planBackfill(fleet.store, { ...RANGE, toAt: NOON + 13 * HOUR })
    expect({ ...plan, toRun: plan.toRun.map(({ id }) => id.slice(9, 11)) }).toMatchObject({
      ...{ slots: 13, done: 1, underWay: 1, refused: [{ reason: 'not due yet', count: 2 }] },
      // Noon, which is older than the job, is among them: a backfill reaches back.
      toRun: ['12', '13', '16', '17', '18', '19', '20', '21', '22'],
    })
    expect(await slots()).toEqual(before)
  })

  it('refuses a range without end, or the wrong way round', async () => {
    await missTen()
    const refusal = { code: 'CRONCE_INPUT_INVALID' }
    await expect(planBackfill(fleet.store, { ...RANGE, fromAt: 0 })).rejects.toMatchObject(refusal)
    await expect(planBackfill(fleet.store, { ...RANGE, toAt: NOON })).rejects.toMatchObject(refusal)
  })
})

describe('a backfill', () => {
  it('runs what never ran, oldest first, one after another, no faster than asked, and the ledger adds up', async () => {
    await missTen()
    const told: BackfillProgress[] = []
    const [result] = await drive(
      backfill(access, request({ intervalMs: 5_000, onProgress: (each) => told.push(each), why: 'lost day' })),
    )
    expect(result).toMatchObject({ ran: { succeeded: 11 }, elsewhere: 0, left: 0 })
    const all = await slots()
    expect(
      all.every(({ cause, why, state }) => cause === 'backfill' && why === 'lost day' && state === 'succeeded'),
    ).toBe(true)
    const starts = all.map(({ claimedAt = 0 }) => claimedAt)
    expect(starts).toEqual(starts.toSorted((a, b) => a - b))
    const pauses = starts.slice(1).map((at, index) => at - (starts[index] ?? 0))
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(5_000)
    for (const [index, slot] of all.slice(1).entries())
      expect(slot.claimedAt).toBeGreaterThanOrEqual(all[index]?.finishedAt ?? 0)
    expect([told.at(0)?.total, told.at(-1)?.ended, told.at(-1)?.state]).toEqual([11, 11, 'ended'])
    expect(await ranOnce()).toBe(true)
    expect(await outcome()).toBe('adds-up')
  })

  it('that is stopped in the middle and called again does only what is left', async () => {
    await missTen()
    const stop = new AbortController()
    const [first] = await drive(
      backfill(access, request({ signal: stop.signal, onProgress: ({ ended }) => ended === 4 && stop.abort() })),
    )
    expect(first).toMatchObject({ left: expect.any(Number) })
    expect(first?.left).toBeGreaterThan(5)
    await workAll(fleet.store, 'job')
    const [second] = await drive(backfill(access, request()))
    expect(second?.plan).toMatchObject({ slots: 11, done: 11 - (second?.plan.toRun.length ?? 0) })
    expect((await slots()).length).toBe(11)
    expect(await ranOnce()).toBe(true)
    expect(await drive(backfill(access, request()))).toMatchObject([
      { ran: {}, left: 0, plan: { done: 11, toRun: [] } },
    ])
  })

  it('whose process dies between the claim and the queue loses no slot and runs none twice', async () => {
    await missTen()
    const count = { adds: 0 }
    const dying = {
      ...access.enqueuer,
      add: (...args: Parameters<typeof access.enqueuer.add>) => {
        count.adds += 1
        // Nothing of the process is left to record, to release or to wait.
        return count.adds === 3 ? new Promise<void>(() => undefined) : access.enqueuer.add(...args)
      },
    }
    const dead = backfill({ ...access, enqueuer: dying }, request())
    dead.catch(() => undefined)
    while (count.adds < 3) {
      await workAll(fleet.store, 'job')
      fleet.clock.advance(250)
    }
    expect((await slots()).at(-1)).toMatchObject({ state: 'claimed' })
    const again = backfill(access, request())
    // The claim's lease ends, and a replica puts the slot on the queue.
    for (let seconds = 0; seconds < 30; seconds += 5) {
      await fleet.advance(5_000, 5_000)
      await workAll(fleet.store, 'job')
    }
    expect(await drive(again)).toMatchObject([{ left: 0 }])
    const all = await slots()
    expect(all.map(({ state, starts, version }) => [state, starts, version])).toEqual(
      Array.from({ length: 11 }, () => ['succeeded', 1, 1]),
    )
  })

  it('beside another over an overlapping range runs each slot once, and never two at a time', async () => {
    await missTen()
    const late = request({ fromAt: NOON + 3 * HOUR, operator: { name: 'ann' } })
    const [one, other] = await drive(backfill(access, request()), backfill(access, late))
    expect([one?.left, other?.left]).toEqual([0, 0])
    const all = await slots()
    expect(all.map(({ state }) => state)).toEqual(Array.from({ length: 11 }, () => 'succeeded'))
    expect(await ranOnce()).toBe(true)
    expect((one?.ran.succeeded ?? 0) + (other?.ran.succeeded ?? 0)).toBe(11)
    const spans = all.map(({ claimedAt = 0, finishedAt = 0 }) => [claimedAt, finishedAt] as const)
    const ordered = spans.toSorted((a, b) => a[0] - b[0])
    for (const [index, [claimedAt]] of ordered.slice(1).entries())
      expect(claimedAt).toBeGreaterThanOrEqual(ordered[index]?.[1] ?? 0)
  })

  it('waits for a run of the schedule that is under way', async () => {
    await missTen()
    await fleet.advance(31 * MINUTE, MINUTE)
    expect((await slots()).map(({ state }) => state)).toEqual(['enqueued'])
    const running = await startRun(fleet.store, 'job', { holdChunk: true })
    const told: string[] = []
    const asked = backfill(access, request({ toAt: NOON + 2 * HOUR, onProgress: ({ state }) => told.push(state) }))
    for (let looks = 0; looks < 40; looks++) {
      await listSlots(fleet.store, 'job', { limit: 1 })
      fleet.clock.advance(250)
    }
    expect((await slots()).length).toBe(1)
    expect(told.at(-1)).toMatch(/^waits for 2026/)
    await running.settle()
    expect(await drive(asked)).toMatchObject([{ ran: { succeeded: 2 } }])
  })

  it('of slots older than the job runs them once, though their records fold at once', async () => {
    await missTen()
    const old = { fromAt: NOON - 60 * DAY, toAt: NOON - 60 * DAY + 3 * HOUR }
    expect(await drive(backfill(access, request(old)))).toMatchObject([{ ran: { succeeded: 3 } }])
    fleet.clock.advance(HOUR)
    await fleet.tick()
    await fleet.sweep()
    expect((await slots()).filter(({ at }) => at < NOON - DAY)).toEqual([])
    expect(await drive(backfill(access, request(old)))).toMatchObject([{ ran: {}, plan: { done: 3, toRun: [] } }])
    const audited = await auditService(fleet.store, { fromAt: old.fromAt - DAY, toAt: fleet.clock.now() })
    expect(audited).toMatchObject({ outcome: 'adds-up', double: 0, unexpected: 0 })
  })

  it('leaves in each slot who asked, and why', async () => {
    await missTen()
    await drive(backfill(access, request({ toAt: NOON + 2 * HOUR, why: 'lost day' })))
    const events = await readSlotEvents(fleet.store, 'job', formatSlotId(NOON + HOUR))
    expect(events.map(({ event }) => event)).toEqual([
      'missed',
      'claimed',
      'enqueued',
      'running',
      'planned',
      'succeeded',
    ])
    expect(events[1]?.detail).toMatchObject({ by: 'kim', cause: 'backfill', why: 'lost day' })
  })
})
