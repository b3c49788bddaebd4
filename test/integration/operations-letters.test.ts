import { cron, defineJob } from '@cronce/core'
import {
  countLetters,
  discard,
  eachMeantBatch,
  type LetterProgress,
  listActions,
  listDeadLetters,
  type RedriveRequest,
  redrive,
  type ServiceAccess,
} from '@cronce/operations'
import { countDeadLetters, hintOpenWork, readDeadLetter, readTime, redriveDeadLetters } from '@cronce/store'
import { handle, NonRetryableError } from '@cronce/worker'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type RedisServer, spawnProcess, startRedis, waitUntil } from '../support/index.ts'
import { manualClock } from '../support/manual-clock.ts'
import { entityOf, writeManyLetters } from '../support/many-letters.ts'
import type { StartedRun } from '../support/start-run.ts'
import { openStage, type Stage } from '../support/worker-stage.ts'
import { CLI, cronceHere } from './cli-run.ts'

const DIED_AT = Date.UTC(2026, 0, 1)
const ann = { name: 'ann' }

const job = defineJob({
  name: 'invoice-run',
  schedule: cron('0 2 * * *'),
  onCrash: 'complete',
  entity: { schema: z.object({ id: z.string() }), key: ({ id }) => id },
  retry: { attempts: 1 },
  chunk: { size: 100, concurrency: 20 },
})

let server: RedisServer
let stage: Stage
let access: ServiceAccess
/** How often the handler was called with each entity. */
let calls: Map<string, number>
let isBroken: (entity: string) => boolean

beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())
beforeEach(() => {
  stage = openStage(server)
  access = { store: stage.store, enqueuer: stage.enqueuer, random: () => 0.5 }
  calls = new Map()
  isBroken = () => false
})
afterEach(() => stage.close())

const handler = (entities: readonly string[] = ['first']) =>
  handle(job, {
    entities: ({ after, limit }) => {
      const page = entities.filter((id) => after === undefined || id > after).slice(0, limit)
      return { entities: page.map((id) => ({ id })), next: page.length < limit ? null : (page.at(-1) ?? null) }
    },
    each: ({ id }) => {
      calls.set(id, (calls.get(id) ?? 0) + 1)
      if (isBroken(id)) throw new NonRetryableError('HTTP 402 again')
    },
  })

/** A run of one entity that is done, and so many dead letters; no worker is left. */
async function runWithLetters(count: number, message?: (index: number) => string) {
  const { worker } = await stage.work([handler()])
  const run = await stage.start(job)
  await stage.ended(run)
  await worker.stop()
  calls.clear()
  const ids = await writeManyLetters(stage.store, run, { count, fromAt: DIED_AT, ...(message && { message }) })
  return { run, ids }
}

const slotIs = ({ slot }: StartedRun) => ({ selection: { slot }, operator: ann, mode: 'redrive' }) as const
const counts = (count: number, times: number) =>
  new Map(Array.from({ length: count }, (_, index) => [entityOf(index), times]))

/** Everything that the service has in Redis. */
async function everything(): Promise<Map<string, string>> {
  const keys = await stage.redis.keys(`cronce:{${stage.service}*`)
  const dumps = await Promise.all(keys.map((key) => stage.redis.dumpBuffer(key)))
  return new Map(
    keys
      .map((key, index) => [key, dumps[index]?.toString('hex') ?? ''] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  )
}

describe('a preview', () => {
  it.each([
    ['a job', { job: job.name }, 300],
    ['an error', { error: 'HTTP 404' }, 100],
    ['a stretch of time, its start included and its end not', { fromAt: DIED_AT + 50, toAt: DIED_AT + 200 }, 150],
    ['all of them', { job: job.name, error: 'HTTP 404', fromAt: DIED_AT, toAt: DIED_AT + 30 }, 10],
    ['a time after the last', { job: job.name, fromAt: DIED_AT + 300 }, 0],
  ])('by %s changes nothing, and counts what the redrive then does', async (_, filter, expected) => {
    await runWithLetters(300, (index) => (index % 3 === 0 ? 'HTTP 404' : 'HTTP 402'))
    const before = await everything()
    const request = { selection: filter, operator: ann }
    const preview = await redrive(access, { ...request, mode: 'preview' })
    const given = await discard(access, { ...request, mode: 'preview', reason: 'gone' })
    expect(await everything()).toEqual(before)
    expect(preview).toEqual({
      entities: expected,
      runs: expected === 0 ? 0 : 1,
      abandonedLeft: 0,
      settled: [],
      unchanged: 0,
      left: 0,
    })
    expect([given.entities, await countLetters(stage.store, filter)]).toEqual([expected, expected])
    expect(await redrive(access, { ...request, mode: 'redrive' })).toEqual(preview)
    expect(await countLetters(stage.store, { job: job.name })).toBe(300 - expected)
    expect(await countLetters(stage.store, filter)).toBe(0)
  })

  it('refuses a change of everything, and a stretch that ends before it begins', async () => {
    await runWithLetters(1)
    const asked = (selection: RedriveRequest['selection']) =>
      redrive(access, { selection, operator: ann, mode: 'preview' })
    await expect(asked({})).rejects.toMatchObject({ code: 'CRONCE_INPUT_INVALID' })
    await expect(asked({ fromAt: 2, toAt: 2 })).rejects.toMatchObject({ code: 'CRONCE_INPUT_INVALID' })
    await expect(asked({ fromAt: 2, toAt: 1 })).rejects.toMatchObject({ code: 'CRONCE_INPUT_INVALID' })
  })
})

describe('a redrive of many', () => {
  it('runs each of them once, tells how far it is, and corrects the sum of the run', async () => {
    const { run } = await runWithLetters(1_250)
    await stage.work([handler()])
    const told: LetterProgress[] = []
    const result = await redrive(access, { ...slotIs(run), onProgress: (progress) => told.push(progress) })
    expect(result).toMatchObject({ entities: 1_250, runs: 1, unchanged: 0, left: 0 })
    expect(told.map(({ ended }) => ended)).toEqual(told.map(({ ended }) => ended).toSorted((a, b) => a - b))
    expect(told.at(-1)).toEqual({ ended: 1_250, total: 1_250 })
    const { entities } = await stage.ended(run, { version: 2 })
    expect(entities).toMatchObject({ planned: 1_251, done: 1_251, dead: 0 })
    expect(calls).toEqual(counts(1_250, 1))
  })

  it('keeps its rate: no more start in any time than it allows, with up to a second in advance', async () => {
    const { run } = await runWithLetters(250)
    const clock = manualClock(0)
    const left = () => countDeadLetters(stage.store, job.name)
    const redriven = redrive(access, { ...slotIs(run), clock, intervalMs: 10 })
    for (const [open, restMs] of [
      [150, 1_000],
      [50, 1_000],
    ] as const) {
      await waitUntil(() => clock.armed === 1, { message: 'its wait' })
      expect(await left()).toBe(open)
      clock.advance(restMs - 1)
      expect([clock.armed, await left()]).toEqual([1, open])
      clock.advance(1)
    }
    expect(await redriven).toMatchObject({ entities: 250, left: 0 })
    expect([clock.armed, await left()]).toEqual([0, 0])
  })

  it('told to stop, says what is left; the same again goes on with it, and nothing runs twice', async () => {
    const { run } = await runWithLetters(450)
    await stage.work([handler()])
    const stop = new AbortController()
    const first = await redrive(access, {
      ...slotIs(run),
      signal: stop.signal,
      onProgress: ({ ended }) => ended >= 200 && stop.abort(),
    })
    expect(first).toMatchObject({ entities: 200, unchanged: 0, left: 250 })
    expect(await redrive(access, slotIs(run))).toMatchObject({ entities: 250, unchanged: 0, left: 0 })
    expect(await redrive(access, slotIs(run))).toMatchObject({ entities: 0, unchanged: 0, left: 0 })
    const done = await waitUntil(
      async () => {
        const { entities } = await stage.read(run)
        return entities.done === 451 ? entities : undefined
      },
      { message: 'the corrected sum' },
    )
    expect(done).toMatchObject({ planned: 451, dead: 0 })
    expect(calls).toEqual(counts(450, 1))
  })

  it('whose process is killed in the middle is gone on with by the same command: each letter is redriven once', async () => {
    const { run } = await runWithLetters(400)
    await stage.work([handler()])
    const command = ['dead', 'retry', '--slot', run.slot, '--redis', server.url, '--service', stage.service]
    const child = await spawnProcess({
      file: CLI,
      args: [...command, '--rate', '200/s'],
      ready: (line) => line.stream === 'err' && line.text.includes('/400 '),
      timeoutMs: 30_000,
    })
    await child.kill()
    const open = await countDeadLetters(stage.store, job.name)
    expect(open).toBeGreaterThan(0)
    expect(open).toBeLessThan(400)
    const again = await cronceHere([...command, '--json'], { url: server.url, service: stage.service })
    expect([again.code, again.json()]).toEqual([0, expect.objectContaining({ entities: open, unchanged: 0, left: 0 })])
    await waitUntil(async () => (await stage.read(run)).entities.done === 401, {
      message: 'all done',
      timeoutMs: 20_000,
    })
    expect(calls).toEqual(counts(400, 1))
    expect(await countDeadLetters(stage.store, job.name)).toBe(0)
  })

  it('killed between its script and the queue leaves what a sweep finds; the same again passes it over', async () => {
    const { run, ids } = await runWithLetters(150)
    // What a redrive does first, and nothing of what it does then.
    await hintOpenWork(stage.store, [job.name], await readTime(stage.store))
    const dead = { ids: ids.slice(0, 100), by: 'ann', abandonedToo: false }
    expect(await redriveDeadLetters(stage.store, run, dead)).toMatchObject({ status: 'redriven', count: 100 })
    expect(await redrive(access, slotIs(run))).toMatchObject({ entities: 50, left: 0 })
    await stage.work([handler()])
    await waitUntil(async () => (await stage.read(run)).entities.done === 151, { message: 'all', timeoutMs: 15_000 })
    expect(calls).toEqual(counts(150, 1))
  })

  it('gives what dies again a second life, and does not chase it', async () => {
    const { run, ids } = await runWithLetters(300)
    isBroken = () => true
    await stage.work([handler()])
    let calledBefore = 0
    // Slow enough for the first to be dead again before the last have their turn.
    const result = await redrive(access, {
      ...slotIs(run),
      intervalMs: 5,
      onProgress: ({ ended }) => {
        if (ended === 300) calledBefore = calls.size
      },
    })
    expect(calledBefore).toBeGreaterThan(0)
    expect(result).toMatchObject({ entities: 300, unchanged: 0, left: 0 })
    await waitUntil(async () => (await countDeadLetters(stage.store, job.name)) === 300, { message: 'all dead again' })
    expect(calls).toEqual(counts(300, 1))
    const letters = await Promise.all(ids.map((id) => readDeadLetter(stage.store, job.name, id)))
    expect(new Set(letters.map((letter) => letter?.lives))).toEqual(new Set([2]))
    // C75: the newest error first, with its time and attempt, the older one kept; a list shows the newest.
    expect(letters[0]?.errors.map(({ message }) => message)).toEqual(['HTTP 402 again', 'HTTP 402'])
    const [newest, oldest] = letters[0]?.errors ?? []
    expect([newest?.attempt, (newest?.at ?? 0) > (oldest?.at ?? 0)]).toEqual([2, true])
    const listed = await listDeadLetters(stage.store, { job: job.name })
    expect(new Set(listed.rows.map(({ error }) => error?.message))).toEqual(new Set(['HTTP 402 again']))
    const run2 = await stage.ended(run, { version: 2 })
    expect(run2.entities).toMatchObject({ planned: 301, done: 1, dead: 300 })
  })

  it('meets what another redrives meanwhile, and neither takes it twice', async () => {
    const { run } = await runWithLetters(500)
    await stage.work([handler()])
    const both = await Promise.all([redrive(access, slotIs(run)), redrive(access, slotIs(run))])
    expect(both.map(({ entities }) => entities).reduce((a, b) => a + b)).toBe(500)
    for (const { entities, unchanged, left } of both) expect([entities + unchanged, left]).toEqual([500, 0])
    await waitUntil(async () => (await stage.read(run)).entities.done === 501, { message: 'all done' })
    expect(calls).toEqual(counts(500, 1))
  })

  it('works from the record when the failed job of the queue is gone, and answers the second click (C55)', async () => {
    const { run, ids } = await runWithLetters(3)
    // The view on the queue was trimmed, or never there.
    const [id = ''] = ids
    const clicks = await Promise.all(
      [1, 2].map(() => redrive(access, { selection: { ids: [id] }, operator: ann, mode: 'redrive' })),
    )
    expect(clicks.map(({ entities }) => entities).toSorted()).toEqual([0, 1])
    const third = await redrive(access, { selection: { ids: [id] }, operator: ann, mode: 'redrive' })
    expect(third).toMatchObject({ entities: 0, settled: [{ id, state: 'redriven' }] })
    await stage.work([handler()])
    await waitUntil(async () => (await readDeadLetter(stage.store, job.name, id))?.state === 'resolved', {
      message: 'its end',
    })
    expect(calls).toEqual(new Map([[entityOf(0), 1]]))
    expect(await readDeadLetter(stage.store, job.name, id)).toMatchObject({
      errors: [{ message: 'HTTP 402', attempt: 1 }],
    })
    expect((await stage.read(run)).entities).toMatchObject({ done: 2, dead: 2 })
  })
})

describe('a discard of many', () => {
  it('is previewed, keeps its rate and its reason, is stopped and gone on with, and leaves the sum as it is', async () => {
    const { run, ids } = await runWithLetters(350, (index) => (index < 300 ? 'HTTP 404' : 'HTTP 402'))
    const clock = manualClock(0)
    const stop = new AbortController()
    const request = {
      selection: { job: job.name, error: '404' },
      operator: ann,
      mode: 'discard',
      reason: 'gone',
    } as const
    const first = discard(access, { ...request, clock, intervalMs: 10, signal: stop.signal })
    await waitUntil(() => clock.armed === 1, { message: 'its wait' })
    stop.abort()
    expect(await first).toEqual({ entities: 100, runs: 1, unchanged: 0, left: 200, settled: [] })
    expect(await discard(access, request)).toMatchObject({ entities: 200, left: 0 })
    expect(await countDeadLetters(stage.store, job.name)).toBe(50)
    expect(await readDeadLetter(stage.store, job.name, ids[0] ?? '')).toMatchObject({
      state: 'discarded',
      discardReason: 'gone',
    })
    expect((await stage.read(run)).entities).toMatchObject({ done: 1, dead: 350 })
  })
})

describe('the journal', () => {
  it('has one row for each change, with what it was for, its counts and its note; none for previews and for nothing', async () => {
    const { ids } = await runWithLetters(120)
    const filter = { job: job.name, error: '402', toAt: DIED_AT + 10 }
    const request = { operator: { name: 'kim', way: 'cli' }, selection: filter } as const
    await redrive(access, { ...request, mode: 'preview' })
    await redrive(access, { ...request, mode: 'redrive' })
    await redrive(access, { ...request, mode: 'redrive' })
    await discard(access, { ...request, selection: { ids: ids.slice(50, 53) }, mode: 'discard', reason: 'closed' })
    const { rows } = await listActions(stage.store, {})
    expect(rows).toHaveLength(2)
    expect(rows).toMatchObject([
      {
        action: 'discard-many',
        by: 'kim',
        way: 'cli',
        note: 'closed',
        selection: expect.stringContaining('3 letters'),
      },
      {
        action: 'redrive',
        job: job.name,
        selection: expect.stringContaining('error="402" to=2026-01-01T00:00:00.010Z'),
      },
    ])
    expect(JSON.stringify(rows)).toContain('"entities":10')
  })

  it('has nothing of what somebody may not do, and that changes nothing', async () => {
    const { ids } = await runWithLetters(3)
    const operator = { name: 'vera', role: 'viewer' } as const
    const asked = redrive(access, { selection: { ids }, operator, mode: 'redrive' })
    await expect(asked).rejects.toMatchObject({ code: 'CRONCE_NOT_ALLOWED' })
    const many = discard(access, {
      selection: { ids },
      operator: { name: 'olga', role: 'operator' },
      mode: 'discard',
      reason: 'x',
    })
    await expect(many).rejects.toMatchObject({ code: 'CRONCE_NOT_ALLOWED' })
    expect((await listActions(stage.store, {})).rows).toEqual([])
    expect(await countDeadLetters(stage.store, job.name)).toBe(3)
  })
})

describe('many dead letters', () => {
  it('of 12,000 entities that fail in one slot are all kept, and counted alike by every reader (C76)', async () => {
    const entities = Array.from({ length: 12_000 }, (_, index) => entityOf(index))
    isBroken = () => true
    await stage.work([handler(entities)], { settleEvery: '1s' })
    const run = await stage.start(job)
    const { entities: sum } = await stage.ended(run, { timeoutMs: 50_000 })
    expect(sum).toMatchObject({ planned: 12_000, done: 0, dead: 12_000 })
    const listed = await cronceHere(['dead', 'list', '--json'], { url: server.url, service: stage.service })
    expect(listed.json()).toMatchObject({ total: 12_000 })
    const seen = new Set<string>()
    for await (const batch of eachMeantBatch(stage.store, { slot: run.slot })) for (const { id } of batch) seen.add(id)
    expect(seen.size).toBe(12_000)
    expect(await countLetters(stage.store, { slot: run.slot, error: 'HTTP 402' })).toBe(12_000)
  })

  it('are paged without a gap and without a double while they are redriven', async () => {
    const { ids } = await runWithLetters(1_000)
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = await listDeadLetters(stage.store, { job: job.name, limit: 100, cursor })
      seen.push(...page.rows.map(({ id }) => id))
      cursor = page.next
      // What was on the page is gone before the next one is asked for.
      await discard(access, { selection: { ids: seen.slice(-100) }, operator: ann, mode: 'discard', reason: 'seen' })
    } while (cursor !== undefined)
    expect(seen).toEqual(ids.toReversed())
  })

  it('cost a page a bounded number of commands, however many there are and however few fit', async () => {
    const { run } = await runWithLetters(20_000, (index) => (index === 0 ? 'HTTP \ud800 404' : 'HTTP 402'))
    const costs = async (query: object) => {
      const before = await commands()
      const page = await listDeadLetters(stage.store, { limit: 50, count: 'if-quick', ...query })
      return { page, cost: (await commands()) - before }
    }
    for (const query of [{}, { job: job.name }, { slot: run.slot }, { fromAt: DIED_AT + 10_000 }]) {
      const { page, cost } = await costs(query)
      expect([page.rows.length, page.total]).toEqual([50, 'fromAt' in query ? 10_000 : 20_000])
      expect(cost).toBeLessThan(10)
    }
    let pages = 0
    let cursor: string | undefined
    let found = 0
    do {
      const { page, cost } = await costs({ error: '404', cursor })
      expect(cost).toBeLessThan(40)
      expect(page.total).toBeUndefined()
      found += page.rows.length
      cursor = page.next
      pages += 1
    } while (cursor !== undefined)
    expect([found, pages]).toEqual([1, 4])
  })
})

/** Looks at the lists and into letters so far; what a page shows of its own rows is not counted. */
async function commands(): Promise<number> {
  const stats = await stage.redis.info('commandstats')
  const of = (name: string) => Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(stats)?.[1] ?? 0)
  return of('evalsha') + of('zrevrangebyscore') + of('zcount')
}
