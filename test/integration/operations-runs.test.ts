import { cron, defineJob, every, formatSlotId } from '@cronce/core'
import { discard, listOverdue, listRuns, type RunRow, showRun } from '@cronce/operations'
import { cutBacklog, readJob, registerJob } from '@cronce/store'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type RedisServer, startRedis, waitUntil } from '../support/index.ts'
import { writeManyLetters } from '../support/many-letters.ts'
import { openStage, type Stage } from '../support/worker-stage.ts'

const HOUR_MS = 3_600_000

const hourly = defineJob({ name: 'hourly', schedule: cron('0 * * * *'), onCrash: 'skip' })
const other = defineJob({ name: 'b/other:job', schedule: every('1h'), onCrash: 'skip' })

let server: RedisServer
let stage: Stage
beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())
beforeEach(() => {
  stage = openStage(server)
})
afterEach(() => stage.close())

/** The last whole hour, by the machine; runs of long ago are as good as any. */
const hour = () => Math.floor(new Date().getTime() / HOUR_MS) * HOUR_MS

async function cut(from: number, to: number): Promise<void> {
  await registerJob(stage.store, hourly, { by: 'test' })
  const job = await readJob(stage.store, 'hourly')
  if (job === undefined) throw new Error('not registered')
  const gap = {
    fromAt: from,
    toAt: to,
    count: (to - from) / HOUR_MS,
    state: 'missed',
    reason: 'nobody was there',
  } as const
  const base = { job: 'hourly', generation: job.generation, watermarkAt: job.watermarkAt, toAt: job.watermarkAt }
  const answer = await cutBacklog(stage.store, {
    ...base,
    known: 0,
    cause: 'late',
    by: 'r-1',
    ends: '',
    gaps: [gap],
    admitted: [],
  })
  expect(answer.status).toBe('ok')
}

async function readPages(limit: number): Promise<RunRow[]> {
  const rows: RunRow[] = []
  let cursor: string | undefined
  do {
    const page = await listRuns(stage.store, { limit, cursor })
    rows.push(...page.rows)
    cursor = page.next
  } while (cursor !== undefined)
  return rows
}

describe('the list of runs', () => {
  it('has the runs of all jobs and their gaps in one order of time, newest first, however it is paged', async () => {
    const now = hour()
    await cut(now - 5 * HOUR_MS, now - 2 * HOUR_MS)
    for (const back of [1, 6]) await stage.start(hourly, { at: now - back * HOUR_MS })
    for (const back of [1, 3, 7]) await stage.start(other, { at: now - back * HOUR_MS })
    // Two runs in one second.
    await stage.start(other, { at: now - HOUR_MS })
    const rows = await readPages(100)
    const back = (row: RunRow) => [row.job, (now - row.at) / HOUR_MS, row.gap?.count ?? 0]
    expect(rows.map(back)).toEqual([
      ['b/other:job', 1, 0],
      ['b/other:job', 1, 0],
      ['hourly', 1, 0],
      ['hourly', 2, 3],
      ['b/other:job', 3, 0],
      ['hourly', 6, 0],
      ['b/other:job', 7, 0],
    ])
    expect(rows[3]).toMatchObject({ state: 'missed', reason: 'nobody was there', cause: undefined, by: 'r-1' })
    for (const limit of [1, 2, 3]) expect(await readPages(limit)).toEqual(rows)
    const missed = await listRuns(stage.store, { state: 'missed' })
    expect([missed.rows, missed.next]).toEqual([[rows[3]], undefined])
  })

  it('is empty for a service without runs', async () => {
    expect(await listRuns(stage.store)).toEqual({ rows: [], next: undefined })
  })
})

describe('a slot inside a gap', () => {
  it('is shown with the reason of the gap; what never was a slot is unknown', async () => {
    const now = hour()
    await cut(now - 5 * HOUR_MS, now - 2 * HOUR_MS)
    const slot = (at: number) => `hourly@${formatSlotId(at)}`
    const { run, events } = await showRun(stage.store, slot(now - 4 * HOUR_MS))
    expect(run).toMatchObject({
      slot: slot(now - 4 * HOUR_MS),
      state: 'missed',
      reason: 'nobody was there',
      gap: { count: 3 },
    })
    expect(events).toHaveLength(1)
    for (const at of [now - 5 * HOUR_MS, now - HOUR_MS, now - 4 * HOUR_MS + 60_000]) {
      await expect(showRun(stage.store, slot(at))).rejects.toMatchObject({ code: 'CRONCE_RUN_UNKNOWN' })
    }
  })
})

describe('overdue', () => {
  it('is a slot that nobody recorded, because no trigger lives', async () => {
    const often = defineJob({
      name: 'often',
      schedule: every('1s'),
      onCrash: 'skip',
      tolerance: { start: '1s', finish: '90s' },
    })
    await registerJob(stage.store, often, { by: 'test' })
    const rows = await waitUntil(
      async () => {
        const found = await listOverdue(stage.store)
        return found.length > 0 && found
      },
      { message: 'the first slot and its tolerance passed' },
    )
    expect(rows).toEqual([
      expect.objectContaining({ job: 'often', kind: 'start', reason: 'no trigger alive', toleranceMs: 1_000 }),
    ])
  })

  it('is nothing for a service at rest', async () => {
    await registerJob(stage.store, hourly, { by: 'test' })
    expect(await listOverdue(stage.store)).toEqual([])
  })
})

describe('a run with dead letters', () => {
  it('shows the newest that are open, though all that died after them are settled', async () => {
    const run = await stage.start(hourly)
    const fromAt = Date.UTC(2026, 0, 1)
    const ids = await writeManyLetters(stage.store, run, { count: 700, fromAt })
    const access = { store: stage.store, enqueuer: stage.enqueuer, random: () => 0.5 }
    const shown = async () => (await showRun(stage.store, run.slot)).deadLetters.map(({ id }) => id)
    const settle = { operator: { name: 'ann' }, reason: 'gone', mode: 'discard' } as const
    expect(await shown()).toEqual(ids.slice(-20).toReversed())
    expect(await discard(access, { ...settle, selection: { fromAt: fromAt + 10 } })).toMatchObject({ entities: 690 })
    expect(await shown()).toEqual(ids.slice(0, 10).toReversed())
    await discard(access, { ...settle, selection: { slot: run.slot } })
    expect(await shown()).toEqual([])
  })
})
