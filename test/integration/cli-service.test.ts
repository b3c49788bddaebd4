import { cron, defineJob } from '@cronce/core'
import { heartbeatReplica, heartbeatWorker, readDeadLetter } from '@cronce/store'
import { handle, NonRetryableError } from '@cronce/worker'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type RedisServer, startRedis, waitUntil } from '../support/index.ts'
import type { StartedRun } from '../support/start-run.ts'
import { openStage, type Stage } from '../support/worker-stage.ts'
import { type CliRun, cronceHere, errorOf } from './cli-run.ts'

const DEAD = ['b:ad', 'bad/../x', 'worse']
let broken = true

const job = defineJob({
  name: 'invoice run',
  schedule: cron('0 2 * * *', { zone: 'Europe/Berlin' }),
  onCrash: 'complete',
  entity: { schema: z.object({ id: z.string() }), key: ({ id }) => id },
  retry: { attempts: 1 },
  queue: 'default',
})
const unserved = defineJob({
  name: 'settlement',
  schedule: cron('0 3 * * *'),
  onCrash: 'skip',
  queue: 'finance',
  tolerance: { start: '1s' },
})

const handler = handle(job, {
  entities: () => ({ entities: ['good', ...DEAD].map((id) => ({ id })), next: null }),
  each: ({ id }) => {
    if (id === 'good' || !broken) return
    throw new NonRetryableError(`HTTP ${id === 'worse' ? 500 : 402} from \u001b[31mbilling`)
  },
})

let server: RedisServer
let stage: Stage
let run: StartedRun

const call = (...args: string[]): Promise<CliRun> => cronceHere(args, { url: server.url, service: stage.service })

beforeAll(async () => {
  server = await startRedis()
  stage = openStage(server)
  await stage.work([handler])
  run = await stage.start(job)
  await stage.ended(run)
})
afterAll(async () => {
  await stage.close()
  await server.stop()
})

interface Rows {
  readonly runs: { slot: string; state: string; cause: string; at: string; entities: object; gap: null | object }[]
  readonly dead: {
    id: string
    slot: string
    entity: string
    attempts: number
    error: { name: string; message: string }
  }[]
  readonly total: number
  readonly next: string | null
}

const rowsOf = (answer: CliRun): Rows => answer.json() as Rows

describe('jobs, runs and show', () => {
  it('show what there is, in JSON with whole ids and UTC instants', async () => {
    const [jobs, runs, show] = await Promise.all([
      call('jobs', '--json'),
      call('runs', '--json'),
      call('show', run.slot, '--json'),
    ])
    expect([jobs.code, runs.code, show.code, jobs.err, runs.err, show.err]).toEqual([0, 0, 0, '', '', ''])
    expect(jobs.json()).toMatchObject({
      jobs: [
        {
          job: 'invoice run',
          deadLetters: 3,
          last: { slot: run.slot, state: 'partial' },
          next: { at: expect.stringMatching(/T0[01]:00:00\.000Z$/) },
        },
      ],
      next: null,
    })
    expect(rowsOf(runs).runs).toEqual([
      expect.objectContaining({
        slot: run.slot,
        state: 'partial',
        cause: 'manual',
        entities: { done: 1, dead: 3, abandoned: 0, skipped: 0 },
        by: 'test',
        gap: null,
      }),
    ])
    const events = (show.json() as { events: { at: string; event: string }[] }).events
    expect(events.map(({ event }) => event)).toEqual(expect.arrayContaining(['claimed', 'running', 'partial']))
    for (const { at } of events) expect(new Date(at).toISOString()).toBe(at)
  })

  it('fit 80 columns for people, ids whole, nothing that a terminal acts on', async () => {
    const answers = await Promise.all([
      call('jobs'),
      call('runs'),
      call('show', run.slot),
      call('dead', 'list'),
      call('replicas'),
    ])
    for (const { code, out } of answers) {
      expect(code).toBe(0)
      expect(out.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u)
      for (const line of out.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80)
    }
    expect(answers[1]?.out).toContain(run.slot)
    expect(answers[3]?.out).toContain(`${run.slot}/b%3Aad`)
  })
})

describe('ids that name nothing', () => {
  it.each([
    [['show', 'invoice run'], 'CRONCE_SLOT_KEY_INVALID'],
    [['show', 'no-such-job@20260825T020000Z'], 'CRONCE_RUN_UNKNOWN'],
    [['show', 'invoice%20run@20260231T020000Z'], 'CRONCE_SLOT_KEY_INVALID'],
    [['show', 'invoice%20run@20990101T010000Z'], 'CRONCE_RUN_UNKNOWN'],
    [['show', '../../etc/passwd'], 'CRONCE_SLOT_KEY_INVALID'],
    [['dead', 'show', 'x'], 'CRONCE_DEAD_LETTER_UNKNOWN'],
    [['dead', 'show', 'invoice%20run@20260825T020000Z/a:errors'], 'CRONCE_DEAD_LETTER_UNKNOWN'],
    [['dead', 'retry', 'invoice%20run@20260825T020000Z/nobody'], 'CRONCE_DEAD_LETTER_UNKNOWN'],
    [['dead', 'retry'], 'CRONCE_USAGE'],
    [['dead', 'retry', 'x', '--job', 'invoice run'], 'CRONCE_USAGE'],
    [['dead', 'discard', '--job', 'invoice run'], 'CRONCE_USAGE'],
    [['dead', 'list', '--job', 'invoice-run'], 'CRONCE_JOB_UNKNOWN'],
    [['runs', '--job', '*'], 'CRONCE_JOB_UNKNOWN'],
    [['runs', '--cursor', 'e30'], 'CRONCE_INPUT_INVALID'],
    [['runs', '--state', 'done'], 'CRONCE_USAGE'],
    [['trigger', 'no-such-job'], 'CRONCE_JOB_UNKNOWN'],
    [['runs', '--service', 'nobody'], 'CRONCE_SERVICE_UNKNOWN'],
    [['runs', '--redis', 'http://user:secret@127.0.0.1'], 'CRONCE_USAGE'],
    [['backfill', 'invoice run'], 'CRONCE_USAGE'],
  ])('are refused: %j', async (args, code) => {
    const answer = await call(...args, '--json')
    expect([answer.code, answer.err, errorOf(answer).code]).toEqual([2, '', code])
    expect(answer.out).not.toContain('secret')
  })
})

describe('trigger', () => {
  it('runs a job under an identity of its own, once per request id', async () => {
    const args = ['trigger', 'invoice run', '--why', 'incident 4711', '--request-id', 'r-1', '--as', 'kim', '--json']
    const first = (await call(...args)).json() as { slot: string; status: string }
    const again = (await call(...args)).json()
    expect(first).toEqual({
      slot: expect.stringMatching(/^invoice%20run@\d{8}T\d{6}Z\+manual-[1-9]$/),
      status: 'enqueued',
      reason: null,
    })
    expect(again).toEqual({ ...first, status: 'repeated' })
    const shown = await waitUntil(
      async () => {
        const details = (await call('show', first.slot, '--json')).json() as { state: string }
        return details.state === 'partial' ? details : undefined
      },
      { message: 'the run by hand ended', timeoutMs: 20_000 },
    )
    expect(shown).toMatchObject({
      cause: 'manual',
      why: 'incident 4711',
      by: 'kim',
      release: expect.stringContaining('cli'),
    })
  })
})

describe('dead letters', () => {
  const idOf = (encoded: string) => `${run.slot}/${encoded}`

  it('are listed by job, slot and error, newest first, in pages', async () => {
    const bySlot = rowsOf(await call('dead', 'list', '--slot', run.slot, '--json'))
    expect(bySlot.dead.map(({ entity }) => entity).toSorted()).toEqual([...DEAD].toSorted())
    expect([bySlot.total, bySlot.next]).toEqual([3, null])
    expect(bySlot.dead[0]).toMatchObject({ attempts: 1, error: { name: 'NonRetryableError' } })
    const byError = rowsOf(
      await call('dead', 'list', '--slot', run.slot, '--error', 'HTTP 402', '--limit', '1', '--json'),
    )
    expect([byError.dead.length, byError.total]).toEqual([1, 2])
    const next = ['dead', 'list', '--slot', run.slot, '--error', 'HTTP 402', '--cursor', byError.next ?? '', '--json']
    const rest = rowsOf(await call(...next))
    expect([...byError.dead, ...rest.dead].map(({ id }) => id).toSorted()).toEqual([idOf('b%3Aad'), idOf('bad/../x')])
  })

  it('are shown with payload and stack, and exported a line each', async () => {
    const shown = (await call('dead', 'show', idOf('bad/../x'), '--json')).json()
    expect(shown).toMatchObject({
      entity: 'bad/../x',
      payload: { id: 'bad/../x' },
      errors: [{ stack: expect.stringContaining('at ') }],
    })
    const { code, out } = await call('dead', 'export', '--slot', run.slot)
    const lines = out.trimEnd().split('\n')
    expect([code, lines.length]).toEqual([0, 3])
    expect(lines.map((line) => (JSON.parse(line) as { entity: string }).entity).toSorted()).toEqual(
      [...DEAD].toSorted(),
    )
  })

  it('are previewed without a change, run again, and correct the sum; a second time nothing happens', async () => {
    const filter = ['--slot', run.slot, '--error', 'HTTP 402']
    const rest = { runs: 1, abandonedLeft: 0, settled: [], unchanged: 0, left: 0 }
    const preview = await call('dead', 'retry', ...filter, '--preview', '--json')
    expect(preview.json()).toEqual({ preview: true, entities: 2, ...rest })
    expect((await readDeadLetter(stage.store, run.job, idOf('b%3Aad')))?.state).toBe('open')
    broken = false
    const retried = await call('dead', 'retry', ...filter, '--as', 'kim', '--json')
    expect(retried.json()).toEqual({ preview: false, entities: 2, ...rest })
    expect((await stage.ended(run, { version: 2 })).entities).toMatchObject({ done: 3, dead: 1 })
    const again = await call('dead', 'retry', idOf('b%3Aad'), '--json')
    expect([again.code, again.json()]).toEqual([
      0,
      expect.objectContaining({ entities: 0, settled: [{ id: idOf('b%3Aad'), state: 'resolved' }] }),
    ])
  })

  it('are discarded with a reason, which stays with them', async () => {
    const args = ['dead', 'discard', '--id', idOf('worse'), '--reason', 'closed account', '--json']
    expect((await call(...args)).json()).toMatchObject({ preview: false, entities: 1, left: 0, settled: [] })
    expect((await call('dead', 'show', idOf('worse'), '--json')).json()).toMatchObject({
      state: 'discarded',
      discardReason: 'closed account',
    })
    expect(rowsOf(await call('dead', 'list', '--slot', run.slot, '--json')).total).toBe(0)
  })
})

describe('overdue, replicas and doctor', () => {
  it('say which slot is overdue and why, with exit 1', async () => {
    const now = new Date().getTime()
    const about = { release: '1', host: 'h', pid: 1, startedAt: now }
    await heartbeatWorker(stage.store, { ...about, id: 'w-9', queues: { default: 1 }, handlers: {}, active: 0 }, now)
    const replica = { ...about, id: 'r-9', skewMs: 0, jobs: 2, loopLateMs: 0, tzdata: '2025c', images: {} }
    await heartbeatReplica(stage.store, replica, now)
    const waiting = await stage.start(unserved, { at: now - 600_000 })
    const answer = await call('overdue', '--json')
    expect(answer.code).toBe(1)
    const { overdue } = answer.json() as { overdue: { slot: string }[] }
    expect(overdue.find(({ slot }) => slot === waiting.slot)).toMatchObject({
      job: 'settlement',
      kind: 'start',
      reason: 'no worker serves queue "finance"',
      sinceMs: expect.any(Number),
    })
    expect((await call('replicas', '--json')).json()).toMatchObject({ replicas: [{ id: 'r-9', state: 'live' }] })
    const doctor = await call('doctor', '--json')
    expect(doctor.code).toBe(1)
    expect(doctor.json()).toMatchObject({
      redis: { evictionPolicy: 'noeviction' },
      findings: expect.arrayContaining([expect.objectContaining({ level: 'error', name: 'queue' })]),
    })
  })
})
