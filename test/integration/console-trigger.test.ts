import { execFile } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { cron, defineJob, formatSlotId, seededRandom } from '@cronce/core'
import { listActions, pauseJob, resumeJob, type ServiceAccess } from '@cronce/operations'
import { createEnqueuer } from '@cronce/queue'
import { cutBacklog, type Gap, listSlots, readJob, registerJob } from '@cronce/store'
import { handle } from '@cronce/worker'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RedisServer, type SpawnedProcess, spawnProcess, startRedis, waitUntil } from '../support/index.ts'
import { openStage, type Stage } from '../support/worker-stage.ts'
import { ask, type WireAnswer } from './console-request.ts'

const HOUR_MS = 3_600_000
const SECRET = 'the-secret-of-the-platform-01234567'
const NEXT_SECRET = 'the-next-secret-of-it-0123456789abc'

const report = defineJob({ name: 'eu/report', schedule: cron('0 * * * *'), onCrash: 'complete' })

let server: RedisServer
let stage: Stage
const apps: SpawnedProcess[] = []
let url: string
let access: ServiceAccess
const ran: string[] = []

/** The last whole hour, by the machine. */
const hour = Math.floor(new Date().getTime() / HOUR_MS) * HOUR_MS
const at = (back: number) => formatSlotId(hour - back * HOUR_MS)
const key = (back: number) => `eu/report@${at(back)}`

beforeAll(async () => {
  server = await startRedis()
  stage = openStage(server)
  access = {
    store: stage.store,
    enqueuer: createEnqueuer({ redis: stage.redis, service: stage.service }),
    random: seededRandom(1),
  }
  await registerJob(stage.store, report, { by: 'pod-1' })
  const job = await readJob(stage.store, report.name)
  // As if it had been registered days ago, and everybody had been away for the last day.
  const since = hour - 100 * HOUR_MS
  const base = `cronce:{${stage.service}:job:eu/report}`
  await stage.redis.hset(`${base}:job`, { registeredAt: since, since, watermark: hour })
  await stage.redis.del(`${base}:generations`)
  const generation = { generation: 1, since, image: job?.image ?? '', by: 'pod-1' }
  await stage.redis.zadd(`${base}:generations`, since, JSON.stringify(generation))
  const gap: Gap = { fromAt: hour - 24 * HOUR_MS, toAt: hour, count: 24, state: 'missed', reason: 'nobody was there' }
  const cut = await cutBacklog(stage.store, {
    ...{
      job: report.name,
      generation: 1,
      watermarkAt: hour,
      toAt: hour,
      known: 0,
      cause: 'late',
      by: 'pod-1',
      ends: '',
    },
    ...{ gaps: [gap], admitted: [] },
  })
  expect(cut.status).toBe('ok')
  await stage.work([handle(report, { each: async (_, ctx) => void ran.push(ctx.slot.key) })])
  url = await startConsole()
})
afterAll(async () => {
  await Promise.all(apps.map((app) => app.kill()))
  await access.enqueuer.close()
  await stage.close()
  await server.stop()
})

async function startConsole(): Promise<string> {
  const app = await spawnProcess({
    file: 'apps/console/src/main.ts',
    env: {
      ...{ REDIS_URL: server.url, CRONCE_SERVICE: stage.service },
      CRONCE_TRIGGER_SECRETS: `eu/report:${SECRET}, eu/report:${NEXT_SECRET},gone:${SECRET}-of-gone`,
    },
  })
  apps.push(app)
  const { json } = await app.waitForLine((line) => line.json?.['msg'] === 'listening', { timeoutMs: 30_000 })
  return String(json?.['url'])
}

interface Signed {
  /** Another console than the first. */
  readonly at?: string
  readonly path?: string
  readonly body?: string
  readonly secret?: string
  readonly secondsAgo?: number
  /** Epoch seconds; default: now, less that. */
  readonly signedAt?: number
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly from?: string
  /** What is signed, where it is not what is sent. */
  readonly as?: { readonly path?: string; readonly body?: string; readonly method?: string }
}

const JOB = '/trigger/eu%2Freport'
let noise = 0
const now = () => Math.floor(new Date().getTime() / 1_000)

/** Each request has a body of its own, so that no two signatures are one. */
function send({
  at: where = url,
  path = JOB,
  secret = SECRET,
  secondsAgo = 0,
  signedAt,
  method = 'POST',
  headers,
  from,
  as,
  ...rest
}: Signed): Promise<WireAnswer> {
  noise += 1
  const body = rest.body ?? JSON.stringify({ note: `request ${noise}` })
  const timestamp = signedAt ?? now() - secondsAgo
  const text = `${timestamp}.${as?.method ?? method} ${as?.path ?? path}\n${as?.body ?? body}`
  const signature = createHmac('sha256', secret).update(text).digest('hex')
  return ask({
    ...{ url: where, method, path, body },
    ...(from === undefined ? {} : { from }),
    headers: { 'cronce-timestamp': String(timestamp), 'cronce-signature': `v1=${signature}`, ...headers },
  })
}

const ended = (slot: string) => waitUntil(() => ran.includes(slot), { message: `the run of ${slot}` })
const codeOf = ({ status, error }: WireAnswer) => [status, error?.code]

describe('a signed request', () => {
  it('runs a slot that was missed, once, however often it comes, and says how it stands', async () => {
    const first = await send({ path: `${JOB}/${at(3)}` })
    expect([first.status, first.json]).toEqual([202, { slot: key(3), outcome: 'accepted', state: 'enqueued' }])
    await ended(key(3))
    await waitUntil(async () => (await send({ path: `${JOB}/${at(3)}` })).status === 200, { message: 'its end' })
    const again = await send({ path: `${JOB}/${encodeURIComponent(key(3))}` })
    expect([again.status, again.json]).toEqual([200, { slot: key(3), outcome: 'ran', state: 'succeeded' }])
    expect(ran).toEqual([key(3)])
    const { rows } = await listActions(stage.store, { slot: key(3) })
    expect(rows).toMatchObject([
      { by: 'signed trigger', way: 'trigger', role: 'operator', action: 'run-slot', note: 'request 1' },
    ])
  })

  it('without a slot means the one that came due last: twenty at once are one run', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => send({})))
    for (const { status, json } of answers) {
      expect([200, 202]).toContain(status)
      expect(json).toMatchObject({ slot: key(0) })
    }
    await ended(key(0))
    expect(ran.filter((slot) => slot === key(0))).toEqual([key(0)])
    const slots = await listSlots(stage.store, report.name, { limit: 100 })
    expect(slots.map(({ id }) => id).filter((id) => id.includes('manual'))).toEqual([])
  })

  it.each(['the first', 'the second'])('may be signed by any secret of the job: %s', async (which) => {
    const secret = which === 'the first' ? SECRET : NEXT_SECRET
    expect((await send({ path: `${JOB}/${at(3)}`, secret })).status).toBe(200)
  })

  it('is taken once, by whichever console, and not under another key', async () => {
    const headers = { 'idempotency-key': 'replay-1' }
    const request = { path: `${JOB}/${at(5)}`, body: '{"note":"replayed"}', signedAt: now() }
    const first = await send(request)
    expect(first.status).toBe(202)
    const elsewhere = await send({ ...request, at: await startConsole() })
    expect(codeOf(elsewhere)).toEqual([409, 'CRONCE_TRIGGER_REPEATED'])
    expect(codeOf(await send(request))).toEqual([409, 'CRONCE_TRIGGER_REPEATED'])
    expect(codeOf(await send({ ...request, headers }))).toEqual([409, 'CRONCE_TRIGGER_REPEATED'])
    // Ten minutes are what one clock takes; that of another console may be behind.
    const marks = await stage.redis.keys('*:trigger:mark:*')
    const kept = await Promise.all(marks.map((mark) => stage.redis.pttl(mark)))
    expect(Math.max(...kept)).toBeGreaterThan(10 * 60_000)
  })

  it('with a key has the answer of the first time, signed anew or not; another under that key is refused', async () => {
    const headers = { 'idempotency-key': 'nightly-1' }
    const request = { path: `${JOB}/${at(6)}`, body: '{"note":"once"}', headers }
    const first = await send(request)
    expect([first.status, first.json]).toMatchObject([202, { state: 'enqueued' }])
    await ended(key(6))
    for (const secondsAgo of [0, 60]) {
      const again = await send({ ...request, secondsAgo })
      expect([again.status, again.text]).toEqual([first.status, first.text])
    }
    const other = await send({ ...request, body: '{"note":"twice"}' })
    expect(codeOf(other)).toEqual([409, 'CRONCE_TRIGGER_REPEATED'])
    expect(codeOf(await send({ ...request, path: `${JOB}/${at(7)}` }))).toEqual([409, 'CRONCE_TRIGGER_REPEATED'])
    expect(ran.filter((slot) => slot === key(6))).toEqual([key(6)])
    expect(ran).not.toContain(key(7))
  })
})

describe('a slot that a policy dropped', () => {
  it('stays so, and the answer says why', async () => {
    const base = `cronce:{${stage.service}:job:eu/report}`
    // As a trigger of overlap `skip` leaves it.
    await stage.redis.hset(`${base}:slot:${at(15)}`, {
      ...{ at: hour - 15 * HOUR_MS, state: 'skipped', reason: 'overlap: the previous run has not ended' },
    })
    await stage.redis.zadd(`${base}:slots`, hour - 15 * HOUR_MS, at(15))
    const answer = await send({ path: `${JOB}/${at(15)}` })
    expect([answer.status, answer.json]).toEqual([
      200,
      { slot: key(15), outcome: 'left', state: 'skipped', reason: 'overlap: the previous run has not ended' },
    ])
    expect(await stage.redis.hget(`${base}:slot:${at(15)}`, 'state')).toBe('skipped')
    expect(ran).not.toContain(key(15))
  })
})

describe('what is not signed so', () => {
  it.each<[string, Signed]>([
    ['by another secret', { secret: 'another-secret-of-nobody-01234567' }],
    ['by a secret of another job', { secret: `${SECRET}-of-gone` }],
    ['for another path', { as: { path: `${JOB}/${at(8)}` } }],
    ['for another method', { as: { method: 'GET' } }],
    ['for another body', { as: { body: '{}' } }],
    ['too long ago', { secondsAgo: 301 }],
    ['from the future', { secondsAgo: -301 }],
    ['without a timestamp', { headers: { 'cronce-timestamp': '' } }],
    ['with another timestamp', { headers: { 'cronce-timestamp': '1' } }],
    ['with half a signature', { headers: { 'cronce-signature': 'v1=abcdef' } }],
    ['with an empty one', { headers: { 'cronce-signature': '' } }],
    ['with a bearer token instead', { headers: { 'cronce-signature': '', authorization: `Bearer ${SECRET}` } }],
  ])('is refused: %s', async (_, request) => {
    const before = ran.length
    const answer = await send({ path: `${JOB}/${at(9)}`, from: '127.0.0.4', ...request })
    expect(codeOf(answer)).toEqual([401, 'CRONCE_TRIGGER_SIGNATURE'])
    expect(answer.text).not.toContain(SECRET)
    expect([ran.length, ran.includes(key(9))]).toEqual([before, false])
  })

  it('has one answer, whether the job is there, has a secret, or is none at all', async () => {
    const texts = new Set<string>()
    for (const name of ['eu%2Freport', 'gone', 'nobody', 'eu%2Freports', '..%2F..', '__proto__', '%F0%9F%92%A9']) {
      const answer = await send({
        path: `/trigger/${name}`,
        secret: 'a-guess-of-somebody-0123456789',
        from: '127.0.0.5',
      })
      texts.add(`${answer.status} ${answer.text}`)
    }
    expect([...texts]).toEqual([expect.stringMatching(/^401 /)])
  })

  it('is slowed down, by address, and what is signed is not, though it shares that address', async () => {
    const guess = { secret: 'a-guess-of-somebody-0123456789', from: '127.0.0.6' }
    for (let number = 0; number < 30; number++) await send(guess)
    expect(codeOf(await send(guess))).toEqual([429, 'CRONCE_CONSOLE_WAIT'])
    expect(codeOf(await send({ ...guess, from: '127.0.0.7' }))).toEqual([401, 'CRONCE_TRIGGER_SIGNATURE'])
    expect((await send({ path: `${JOB}/${at(3)}`, from: guess.from })).status).toBe(200)
  })
})

describe('what is signed and cannot be done', () => {
  it.each<[string, Signed, number, string]>([
    [
      'a job that the service has not',
      { path: '/trigger/gone', secret: `${SECRET}-of-gone` },
      404,
      'CRONCE_JOB_UNKNOWN',
    ],
    ['no slot of the schedule', { path: `${JOB}/20261127T011700Z` }, 404, 'CRONCE_SLOT_FOREIGN'],
    ['a slot of another job', { path: `${JOB}/gone@20261127T010000Z` }, 404, 'CRONCE_SLOT_FOREIGN'],
    ['one that is not due', { path: `${JOB}/${formatSlotId(hour + 2 * HOUR_MS)}` }, 409, 'CRONCE_SLOT_EARLY'],
    ['no slot at all', { path: `${JOB}/yesterday` }, 400, 'CRONCE_INPUT_INVALID'],
    ['a body that is no JSON', { body: 'x=1' }, 400, 'CRONCE_CONSOLE_REQUEST'],
    ['a body with more in it', { body: '{"note":"x","force":true}' }, 400, 'CRONCE_INPUT_INVALID'],
    ['a key that is none', { headers: { 'idempotency-key': 'two words' } }, 400, 'CRONCE_INPUT_INVALID'],
    ['more than is read', { body: JSON.stringify({ note: 'x'.repeat(20_000) }) }, 413, 'CRONCE_CONSOLE_REQUEST'],
  ])('is told why: %s', async (_, request, status, code) => {
    const before = ran.length
    const answer = await send(request)
    expect(codeOf(answer)).toEqual([status, code])
    expect(answer.text).not.toContain('did you mean')
    expect(ran.length).toBe(before)
  })

  it('while the job is paused, with the reason', async () => {
    const operator = { name: 'kim' }
    await pauseJob(access, { job: report.name, operator, note: 'bank moves' })
    const answer = await send({ path: `${JOB}/${at(11)}` })
    expect([answer.status, answer.error]).toMatchObject([
      409,
      { code: 'CRONCE_JOB_HELD', state: expect.stringContaining('bank moves') },
    ])
    await resumeJob(access, { job: report.name, operator })
  })
})

describe('docs/http-trigger.md', () => {
  it('shows a command that works', async () => {
    await stage.redis.hdel(`cronce:{${stage.service}:job:eu/report}:job`, 'paused', 'pausedAt')
    const page = readFileSync(new URL('../../docs/http-trigger.md', import.meta.url), 'utf8')
    const [, script = ''] = /```sh\n([^]*?)```/.exec(page) ?? []
    expect(script).toContain('openssl dgst')
    const env = {
      PATH: '/usr/local/bin:/usr/bin:/bin',
      CONSOLE: url,
      JOB: `eu%2Freport/${at(13)}`,
      SECRET: NEXT_SECRET,
    }
    const { stdout } = await promisify(execFile)('sh', ['-euc', script], { env })
    expect(JSON.parse(stdout)).toEqual({ slot: key(13), outcome: 'accepted', state: 'enqueued' })
    await ended(key(13))
  })
})

describe('requests of one job', () => {
  it('are sixty a minute; then it waits', async () => {
    let last: WireAnswer | undefined
    for (let number = 0; number < 61 && last?.status !== 429; number++) last = await send({ path: `${JOB}/${at(3)}` })
    expect([last?.status, last?.error?.code]).toEqual([429, 'CRONCE_CONSOLE_WAIT'])
    expect(Number(last?.headers['retry-after'])).toBeGreaterThan(0)
  })
})
