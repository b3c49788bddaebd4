import { cron, defineJob, systemRandom } from '@cronce/core'
import { discard, listDeadLetters } from '@cronce/operations'
import { registerJob } from '@cronce/store'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ConsoleGround, type ConsoleProcess, openGround, TOKENS } from '../browser/console-ground.ts'
import { waitUntil } from '../support/index.ts'

let ground: ConsoleGround
let opened: ConsoleProcess

const job = (name: string) =>
  defineJob({ name, schedule: cron('0 3 * * *'), onCrash: 'skip', queue: 'finance', tolerance: { start: '1h' } })

beforeAll(async () => {
  ground = await openGround()
  opened = await ground.startConsole()
})
afterAll(async () => await ground?.close())

/** Streams that one console has at once. */
const MOST_STREAMS = 200

interface ChangeAnswer {
  /** Null: anything may have changed. */
  readonly jobs: readonly string[] | null
}

interface Stream {
  readonly status: number
  readonly type: string | null
  /** Everything that was told so far. */
  readonly changes: readonly ChangeAnswer[]
  readonly state: () => 'open' | 'ended'
  /** How often it said that it is alive. */
  readonly beats: () => number
  close(): void
}

async function openStream(headers: Record<string, string> = bearer('viewer')): Promise<Stream> {
  const stop = new AbortController()
  const answer = await fetch(`${opened.url}/api/live`, { headers, signal: stop.signal })
  const changes: ChangeAnswer[] = []
  let state: 'open' | 'ended' = 'open'
  let beats = 0
  const read = async () => {
    let rest = ''
    for await (const part of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const events = (rest + part).split('\n\n')
      rest = events.pop() ?? ''
      for (const text of events) {
        if (text === ': alive') beats += 1
        const data = /^event: change\ndata: (.*)$/m.exec(text)?.[1]
        if (data !== undefined) changes.push(JSON.parse(data) as ChangeAnswer)
      }
    }
  }
  void read()
    .catch(() => undefined)
    .finally(() => (state = 'ended'))
  return {
    ...{ status: answer.status, type: answer.headers.get('content-type'), changes },
    state: () => state,
    beats: () => beats,
    close: () => stop.abort(),
  }
}

function bearer(role: keyof typeof TOKENS): Record<string, string> {
  return { authorization: `Bearer ${TOKENS[role]}` }
}

describe('the live stream', () => {
  it('is for who is signed in, and says of what type it is', async () => {
    const refused = await openStream({})
    expect(refused.status).toBe(401)
    const stream = await openStream()
    expect([stream.status, stream.type]).toEqual([200, 'text/event-stream; charset=utf-8'])
    stream.close()
  })

  it('names the job that changed and no other, to everybody who listens', async () => {
    const streams = [await openStream(), await openStream()]
    // A job that was never seen is told of as anything; the second time there is something to compare with.
    for (const message of ['a new job is told of', 'the job is named']) {
      const from = streams.map(({ changes }) => changes.length)
      await ground.stage.start(job('quiet'))
      await waitUntil(
        async () =>
          streams.every(({ changes }, index) => changes.slice(from[index]).some(concerns('quiet'))) || undefined,
        { message },
      )
    }
    await waitUntil(async () => streams.every(({ changes }) => changes.some(isOf('quiet'))) || undefined, {
      message: 'it is named',
    })
    for (const stream of streams) {
      const named = stream.changes.flatMap(({ jobs }) => jobs ?? [])
      expect(named).not.toContain('invoice-run')
      stream.close()
    }
  })

  it('tells at once what is changed through the console', async () => {
    const stream = await openStream()
    const headers = { ...bearer('operator'), 'content-type': 'application/json' }
    const answer = await fetch(`${opened.url}/api/jobs/settlement/pause`, {
      ...{ method: 'POST', headers, body: JSON.stringify({ note: 'quiet, please' }) },
    })
    expect(answer.status).toBe(200)
    await waitUntil(async () => stream.changes.some(({ jobs }) => jobs === null) || undefined, { message: 'a change' })
    stream.close()
  })

  it('tells nothing for who is not signed in, for signing in and out, and for a preview', async () => {
    const stream = await openStream()
    const before = await looks()
    await waitUntil(async () => (await looks()) >= before + 3 || undefined, { message: 'what came before is told' })
    const told = () => stream.changes.filter(({ jobs }) => jobs === null).length
    const toldBefore = told()
    const own = { 'x-cronce-console': '1', 'content-type': 'application/json' }
    const send = async (method: string, path: string, body: object, headers: Record<string, string> = own) => {
      const answer = await fetch(`${opened.url}${path}`, { method, headers, body: JSON.stringify(body) })
      return answer.status
    }
    for (let times = 0; times < 5; times++) expect(await send('DELETE', '/api/session', {})).toBe(204)
    expect(await send('POST', '/api/session', { token: TOKENS.viewer })).toBe(200)
    const asOperator = { ...own, ...bearer('operator') }
    expect(await send('DELETE', '/api/session', {}, asOperator)).toBe(204)
    const preview = { verb: 'redrive', selection: { job: 'invoice-run' } }
    expect(await send('POST', '/api/letter-changes/preview', preview, asOperator)).toBe(200)
    expect(await send('POST', '/api/jobs/settlement/resume', {}, asOperator)).toBe(200)
    await waitUntil(async () => told() > toldBefore || undefined, { message: 'the resume is told' })
    expect(told()).toBe(toldBefore + 1)
    stream.close()
  })

  it('goes on as long as what let it in does, whatever cookie comes with it', async () => {
    const session = await fetch(`${opened.url}/api/session`, {
      method: 'POST',
      headers: { 'x-cronce-console': '1', 'content-type': 'application/json' },
      body: JSON.stringify({ token: TOKENS.viewer }),
    })
    const cookie = session.headers.get('set-cookie')?.split(';')[0] ?? ''
    const byToken = await openStream({ ...bearer('viewer'), cookie: 'cronce_session=of-another-time' })
    const bySession = await openStream({ cookie })
    expect([byToken.state(), bySession.state()]).toEqual(['open', 'open'])
    await fetch(`${opened.url}/api/session`, { method: 'DELETE', headers: { 'x-cronce-console': '1', cookie } })
    await waitUntil(async () => bySession.state() === 'ended' || undefined, {
      ...{ message: 'the end of the session takes its stream', timeoutMs: 20_000 },
    })
    await waitUntil(async () => byToken.beats() > 0 || undefined, { message: 'the other goes on', timeoutMs: 20_000 })
    expect(byToken.state()).toBe('open')
    byToken.close()
  })

  it('tells of a job that another process registers, among many', async () => {
    await Promise.all(
      Array.from({ length: 40 }, (_, index) => registerJob(ground.stage.store, job(`tenant-${index}`), { by: 'test' })),
    )
    const stream = await openStream()
    await registerJob(ground.stage.store, job('late-comer'), { by: 'test' })
    await waitUntil(async () => stream.changes.some(({ jobs }) => jobs === null) || undefined, {
      message: 'anything may have changed',
    })
    stream.close()
  })

  it('finds among them, some looks later, what no set tells of: a dead letter that another process gave up', async () => {
    const stream = await openStream()
    const { enqueuer, store } = ground.stage
    const { rows } = await listDeadLetters(store, { job: 'invoice-run', limit: 1 })
    // Each of the forty is looked at once before there is something to compare with.
    const before = await looks()
    await waitUntil(async () => (await looks()) >= before + 8 || undefined, { message: 'looks', timeoutMs: 15_000 })
    const told = stream.changes.length
    const selection = { ids: rows.map(({ id }) => id) }
    const access = { store, enqueuer, random: systemRandom }
    await discard(access, { selection, operator: { name: 'ada' }, mode: 'discard', reason: 'a test' })
    await waitUntil(async () => stream.changes.slice(told).some(isOf('invoice-run')) || undefined, {
      ...{ message: 'its job is named', timeoutMs: 15_000 },
    })
    expect(rows).toHaveLength(1)
    stream.close()
  })

  it('looks once a second, for fifty who listen as for one', async () => {
    const streams = await Promise.all(Array.from({ length: 50 }, () => openStream()))
    const before = await looks()
    const startedAt = performance.now()
    await waitUntil(async () => (await looks()) >= before + 4 || undefined, { message: 'four looks' })
    expect(performance.now() - startedAt).toBeGreaterThan(1_500)
    for (const stream of streams) stream.close()
  })

  it('is refused beyond so many, with a reason, and those that are open go on', async () => {
    const streams: Stream[] = []
    await waitUntil(
      async () => {
        const stream = await openStream()
        streams.push(stream)
        return stream.status === 503 || undefined
      },
      { message: 'one too many', timeoutMs: 30_000 },
    )
    expect(streams.length).toBeLessThanOrEqual(MOST_STREAMS + 1)
    expect(streams[0]?.state()).toBe('open')
    for (const stream of streams) stream.close()
    await waitUntil(
      async () => {
        const stream = await openStream()
        stream.close()
        return stream.status === 200 || undefined
      },
      { message: 'there is room again' },
    )
  })

  it('ends when the console is told to stop, which it then does in time', async () => {
    const stream = await openStream()
    opened.process.signal('SIGTERM')
    const { code } = await opened.process.exited
    expect(code).toBe(0)
    await waitUntil(async () => stream.state() === 'ended' || undefined, { message: 'the end of the stream' })
  })
})

/** Each look of a console asks once with GET; nobody else here does. */
async function looks(): Promise<number> {
  const info = await ground.stage.redis.info('commandstats')
  return Number(/cmdstat_get:calls=(\d+)/.exec(info)?.[1] ?? 0)
}

function concerns(name: string): (change: ChangeAnswer) => boolean {
  return ({ jobs }) => jobs === null || jobs.includes(name)
}

function isOf(name: string): (change: ChangeAnswer) => boolean {
  return ({ jobs }) => jobs?.includes(name) ?? false
}
