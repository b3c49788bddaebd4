import { cron, defineJob, formatSlotId } from '@cronce/core'
import { cutBacklog, type Gap, readJob, registerJob } from '@cronce/store'
import { handle } from '@cronce/worker'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RedisServer, spawnProcess, startRedis, waitUntil } from '../support/index.ts'
import { openStage, type Stage } from '../support/worker-stage.ts'
import { CLI, type CliRun, cronce, cronceHere, errorOf } from './cli-run.ts'

const HOUR_MS = 3_600_000

const report = defineJob({
  name: 'report',
  schedule: cron('0 * * * *'),
  onCrash: 'complete',
  retry: { attempts: 1 },
  description: 'what happened in the hour',
})

let server: RedisServer
let stage: Stage
/** Slots in the order in which they ran. */
const ran: string[] = []
/** How many runs may end; the next one waits. */
let ends = Number.POSITIVE_INFINITY

const call = (...args: string[]): Promise<CliRun> => cronceHere(args, { url: server.url, service: stage.service })

/** The last whole hour, by the machine. */
const hour = Math.floor(new Date().getTime() / HOUR_MS) * HOUR_MS
const at = (back: number) => formatSlotId(hour - back * HOUR_MS)
const iso = (back: number) => new Date(hour - back * HOUR_MS).toISOString()

beforeAll(async () => {
  server = await startRedis()
  stage = openStage(server)
  await registerJob(stage.store, report, { by: 'pod-1' })
  const job = await readJob(stage.store, 'report')
  if (job === undefined) throw new Error('not registered')
  // As if it had been registered days ago, and everybody had been away for the last day.
  const since = hour - 100 * HOUR_MS
  await stage.redis.hset(`cronce:{${stage.service}:job:report}:job`, { registeredAt: since, since, watermark: hour })
  await stage.redis.del(`cronce:{${stage.service}:job:report}:generations`)
  const generation = { generation: 1, since, image: job.image, by: 'pod-1' }
  await stage.redis.zadd(`cronce:{${stage.service}:job:report}:generations`, since, JSON.stringify(generation))
  const gap: Gap = { fromAt: hour - 24 * HOUR_MS, toAt: hour, count: 24, state: 'missed', reason: 'nobody was there' }
  const cut = await cutBacklog(stage.store, {
    ...{ job: 'report', generation: 1, watermarkAt: hour, toAt: hour, known: 0, cause: 'late', by: 'pod-1', ends: '' },
    ...{ gaps: [gap], admitted: [] },
  })
  expect(cut.status).toBe('ok')
  await stage.work([
    handle(report, {
      each: async (_, ctx) => {
        ran.push(ctx.slot.key)
        await waitUntil(() => ran.length <= ends, { message: 'leave to end', timeoutMs: 50_000 })
      },
    }),
  ])
})
afterAll(async () => {
  await stage.close()
  await server.stop()
})

const refusal = async (...args: string[]): Promise<[number | null, string, string]> => {
  const answer = await call(...args, '--json')
  return [answer.code, errorOf(answer).code, answer.err]
}

describe('trigger --slot', () => {
  it('runs a slot that was missed, once, and refuses it then with what to do next', async () => {
    const args = ['trigger', 'report', '--slot', at(3), '--why', 'incident 4711', '--as', 'kim']
    const first = await call(...args, '--json')
    expect([first.code, first.json()]).toEqual([
      0,
      { slot: `report@${at(3)}`, status: 'enqueued', reason: null, redriven: 0, abandonedLeft: 0 },
    ])
    await waitUntil(async () => (await call('show', `report@${at(3)}`)).out.includes('succeeded'), {
      message: 'its end',
    })
    expect(await refusal(...args)).toEqual([2, 'CRONCE_SLOT_DONE', ''])
    const again = await call(...args)
    expect(again.out).toBe('')
    expect(again.err).toMatch(/^refused: already succeeded; --force walks the plan again for what has no receipt\n/)
    expect(ran).toEqual([`report@${at(3)}`])
    const shown = (await call('show', `report@${at(3)}`, '--json')).json()
    expect(shown).toMatchObject({
      cause: 'manual',
      by: 'kim',
      why: 'incident 4711',
      release: expect.stringMatching(/^cli/),
    })
  })

  it('with --force walks the plan of an ended run again, and nothing runs twice', async () => {
    const forced = await call('trigger', 'report', '--slot', at(3), '--force', '--json')
    expect([forced.code, forced.json()]).toEqual([0, expect.objectContaining({ status: 'walking' })])
    const run = { job: 'report', id: at(3) }
    expect(await stage.ended(run, { version: 2 })).toMatchObject({
      state: 'succeeded',
      entities: { planned: 1, done: 1 },
    })
    expect(ran).toEqual([`report@${at(3)}`])
  })

  it('is found in the journal by its slot: who asked, why, and what came of it', async () => {
    const found = (await call('actions', '--slot', `report@${at(3)}`, '--json')).json()
    expect(found).toMatchObject({
      actions: [
        { action: 'run-slot-again', outcome: 'done', result: 'walking', way: 'cli', role: 'admin', note: null },
        { action: 'run-slot', by: 'kim', note: 'incident 4711', result: 'enqueued', slots: [`report@${at(3)}`] },
      ],
      next: null,
    })
    const text = (await call('actions', '--job', 'report', '--who', 'kim')).out
    expect(text).toMatch(/run-slot +report@\d{8}T\d{6}Z +enqueued/)
    expect(text).not.toContain('run-slot-again')
    expect((await call('actions', '--who', 'nobody')).out).toBe(' no changes\n')
  })

  it.each([
    [['trigger', 'report', '--slot', at(-2)], 'CRONCE_SLOT_EARLY'],
    [['trigger', 'report', '--slot', at(2.5)], 'CRONCE_SLOT_FOREIGN'],
    [['trigger', 'report', '--slot', at(101)], 'CRONCE_SLOT_FOREIGN'],
    [['trigger', 'report', '--slot', `other@${at(2)}`], 'CRONCE_SLOT_FOREIGN'],
    [['trigger', 'report', '--slot', 'now'], 'CRONCE_INPUT_INVALID'],
    [['trigger', 'report', '--force'], 'CRONCE_USAGE'],
    [['trigger', 'report', '--slot', at(2), '--request-id', 'r'], 'CRONCE_USAGE'],
    [['trigger', 'reprot', '--slot', at(2)], 'CRONCE_JOB_UNKNOWN'],
    [['backfill', 'report', '--from', '2026-02-30', '--to', '2026-03-02'], 'CRONCE_USAGE'],
    [['backfill', 'report', '--from', '2026-03-03', '--to', '2026-03-02'], 'CRONCE_INPUT_INVALID'],
    [['backfill', 'report', '--from', '2000-01-01', '--to', '2026-03-02'], 'CRONCE_INPUT_INVALID'],
    [['backfill', 'report', '--from', iso(3), '--to', iso(1), '--rate', '2'], 'CRONCE_USAGE'],
    [['pause', 'report', '--until', 'tomorrow'], 'CRONCE_USAGE'],
    [['pause', 'report', '--until', '2020-01-01T00:00:00Z'], 'CRONCE_INPUT_INVALID'],
    [['pause', 'report', '--missed', 'run'], 'CRONCE_USAGE'],
    [['resume', 'reprot'], 'CRONCE_JOB_UNKNOWN'],
    [['jobs', 'reprot'], 'CRONCE_JOB_UNKNOWN'],
  ])('refuses with exit 2 and a code: %j', async (args, code) => {
    expect(await refusal(...args)).toEqual([2, code, ''])
  })
})

describe('backfill', () => {
  it('previews with counts and changes nothing', async () => {
    const args = ['backfill', 'report', '--from', iso(5), '--to', iso(0), '--preview']
    const preview = await call(...args, '--json')
    expect([preview.code, preview.json()]).toEqual([
      0,
      {
        ...{ job: 'report', from: iso(5), to: iso(0), preview: true, slots: 5, toRun: 4, done: 1, underWay: 0 },
        refused: [],
      },
    ])
    expect((await call(...args)).out).toBe(' 5 slots: 4 to run, 1 already done\n Nothing was changed (preview).\n')
    expect(ran.length).toBe(1)
  })

  it('killed in the middle and called again does only what is left: every slot runs once', async () => {
    const env = { REDIS_URL: server.url, CRONCE_SERVICE: stage.service }
    const args = ['backfill', 'report', '--from', iso(9), '--to', iso(0)]
    ends = ran.length + 2
    const first = await spawnProcess({ file: CLI, args, env })
    await waitUntil(() => ran.length > ends, { message: 'the third run', timeoutMs: 20_000 })
    expect((await first.kill('SIGKILL')).signal).toBe('SIGKILL')
    ends = Number.POSITIVE_INFINITY
    const again = await cronce([...args, '--json'], { env })
    expect([again.code, again.json()]).toMatchObject([0, { slots: 9, left: 0 }])
    expect(ran.length).toBe(new Set(ran).size)
    expect(new Set(ran)).toEqual(new Set([1, 2, 3, 4, 5, 6, 7, 8, 9].map((back) => `report@${at(back)}`)))
    // Oldest first.
    expect(ran.slice(1)).toEqual(ran.slice(1).toSorted())
    const last = again.err.trimEnd().split('\n')
    expect([last[0], last.at(-1)]).toEqual([
      expect.stringMatching(/^ 9 slots: \d to run/),
      expect.stringMatching(/^ \[#{18}\] {2}(\d)\/\1 {2}ended$/),
    ])
    const nothing = await call(...args, '--json')
    expect([nothing.code, nothing.json()]).toMatchObject([0, { toRun: 0, done: 9, ran: {}, left: 0 }])
  })
})

describe('a backfill that is told to stop', () => {
  it('ends at once with what is left, and what it started goes on by itself', async () => {
    ends = ran.length + 1
    const env = { REDIS_URL: server.url, CRONCE_SERVICE: stage.service }
    const args = ['backfill', 'report', '--from', iso(14), '--to', iso(9), '--json']
    const backfill = await spawnProcess({ file: CLI, args, env })
    await waitUntil(() => ran.length > ends, { message: 'the second run', timeoutMs: 20_000 })
    backfill.signal('SIGINT')
    expect(await backfill.exited).toEqual({ code: 1, signal: null })
    const out = backfill.lines.filter(({ stream }) => stream === 'out').map(({ text }) => text)
    expect(out.map((line) => JSON.parse(line) as unknown)).toMatchObject([{ toRun: 5, ran: { succeeded: 1 }, left: 4 }])
    ends = Number.POSITIVE_INFINITY
    const run = { job: 'report', id: at(13) }
    expect(await stage.ended(run)).toMatchObject({ state: 'succeeded', cause: 'backfill' })
    expect(ran.length).toBe(new Set(ran).size)
  })
})

describe('pause and resume', () => {
  it('say who, why and until when, wherever the job is shown, and stay in its history', async () => {
    const paused = await call('pause', 'report', '--note', 'the mail moves', '--until', '2h', '--as', 'ann', '--json')
    expect([paused.code, paused.json()]).toEqual([
      0,
      {
        job: 'report',
        status: 'paused',
        pause: {
          ...{ state: 'paused', by: 'ann', note: 'the mail moves', missed: 'skip' },
          ...{ since: expect.stringMatching(/Z$/), until: expect.stringMatching(/Z$/) },
        },
      },
    ])
    expect((await call('jobs')).out.replaceAll(/\s+/g, ' ')).toContain('paused by ann until')
    expect((await call('show', `report@${at(3)}`)).out).toContain('paused by ann until')
    const twice = await call('pause', 'report', '--as', 'bob', '--json')
    expect([twice.code, twice.json()]).toMatchObject([1, { status: 'already', pause: { by: 'ann' } }])
    expect(await refusal('trigger', 'report', '--slot', at(10))).toEqual([2, 'CRONCE_JOB_HELD', ''])
    const resumed = await call('resume', 'report', '--note', 'moved', '--as', 'bob', '--json')
    expect([resumed.code, resumed.json()]).toEqual([0, { job: 'report', status: 'resuming' }])
    const shown = await call('jobs', 'report', '--json')
    expect([shown.code, shown.err]).toEqual([0, ''])
    const history = shown.json() as { events: { event: string; by: string; note: string }[] }
    expect(history).toMatchObject({
      ...{ job: 'report', dynamic: false, generation: 1, fault: null, gone: null },
      definition: { name: 'report', onCrash: 'complete' },
      generations: [{ generation: 1, schedule: '0 * * * *  UTC', by: 'pod-1', until: null }],
    })
    expect(history.events.map(({ event, by, note }) => [event, by, note])).toEqual([
      ['registered', 'pod-1', 'generation 1'],
      ['changed', 'pod-1', ''],
      ['paused', 'ann', 'the mail moves'],
      ['resumed', 'bob', 'moved'],
    ])
    for (const line of (await call('jobs', 'report')).out.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80)
  })
})
