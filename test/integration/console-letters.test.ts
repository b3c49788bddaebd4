import { countDeadLetters, jobKey } from '@cronce/store'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ConsoleGround, type ConsoleProcess, HOSTILE, openGround, TOKENS } from '../browser/console-ground.ts'
import { waitUntil } from '../support/index.ts'
import { entityOf, writeManyLetters } from '../support/many-letters.ts'

const DIED_AT = Date.UTC(2026, 0, 1)
const MANY = 12_000

let ground: ConsoleGround
let opened: ConsoleProcess
let ids: readonly string[]

beforeAll(async () => {
  ground = await openGround()
  const message = (index: number) => (index % 2 === 0 ? 'HTTP 404' : 'HTTP 503')
  const payload = (id: string) => ({ id, note: '' })
  ids = await writeManyLetters(ground.stage.store, ground.run, { count: MANY, fromAt: DIED_AT, message, payload })
  ground.mend()
  opened = await ground.startConsole()
})
afterAll(() => ground.close())

type Role = keyof typeof TOKENS

/** What the API tells of a change. */
interface LetterChangeAnswer {
  readonly state: string
  readonly ended: number
  readonly endedAt: number | null
  readonly result: object | null
  readonly error: string | null
}

async function ask(
  path: string,
  { as = 'admin', method = 'GET', body }: { as?: Role; method?: string; body?: object } = {},
) {
  const answer = await fetch(new URL(path, opened.url), {
    method,
    headers: { authorization: `Bearer ${TOKENS[as]}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  return {
    status: answer.status,
    body: (await answer.json()) as Record<string, unknown> & { error?: { code: string } },
  }
}

const change = (body: object, as: Role = 'admin', path = '/api/letter-changes') =>
  ask(path, { as, method: 'POST', body })
const last = async () => ((await ask('/api/letter-changes')).body['changes'] as LetterChangeAnswer[])[0]
const ended = () =>
  waitUntil(async () => ((await last())?.endedAt === null ? undefined : await last()), {
    message: 'its end',
    timeoutMs: 30_000,
  })

describe('GET /api/dead', () => {
  it('counts 12,000 and more letters, and pages all of them once (C76)', async () => {
    const first = await ask('/api/dead?limit=200', { as: 'viewer' })
    expect(first.body['total']).toBe(MANY + HOSTILE.length)
    const seen = new Set<string>()
    for (let next: string | null = ''; next !== null; ) {
      const { body } = await ask(`/api/dead?limit=200${next === '' ? '' : `&cursor=${next}`}`)
      for (const { id } of body['letters'] as { id: string }[]) seen.add(id)
      next = body['next'] as string | null
    }
    expect(seen.size).toBe(MANY + HOSTILE.length)
    const metrics = await fetch(new URL('/metrics', opened.url), {
      headers: { authorization: `Bearer ${TOKENS.viewer}` },
    })
    const line = `job_name="invoice-run"} ${MANY + HOSTILE.length}`
    expect((await metrics.text()).split('\n').filter((each) => each.startsWith('cronce_dead_letters{'))).toEqual(
      expect.arrayContaining([expect.stringContaining(line)]),
    )
  })

  it('takes a stretch of time, and leaves the total out where each letter would have to be looked at', async () => {
    const inTime = await ask(`/api/dead?fromAt=${DIED_AT + 10}&toAt=${DIED_AT + 20}`)
    expect([
      inTime.body['total'],
      (inTime.body['letters'] as { entity: string }[]).map(({ entity }) => entity),
    ]).toEqual([10, Array.from({ length: 10 }, (_, index) => entityOf(19 - index))])
    const byError = await ask('/api/dead?error=HTTP%20404&limit=10')
    expect([byError.body['total'], (byError.body['letters'] as unknown[]).length]).toEqual([null, 10])
    expect((await ask('/api/dead?fromAt=soon')).status).toBe(400)
    expect((await ask('/api/dead?fromAt=5&toAt=5')).status).toBe(400)
  })
})

describe('a change of many dead letters', () => {
  const filter = { job: 'invoice-run', error: 'HTTP 404' }

  it.each([
    [{}, 400],
    [{ verb: 'redrive' }, 400],
    [{ verb: 'redrive', selection: {} }, 400],
    [{ verb: 'redrive', selection: { ids: [] } }, 400],
    [{ verb: 'redrive', selection: { ids: ['x'], job: 'invoice-run' } }, 400],
    [{ verb: 'redrive', selection: { job: 'invoice-run', state: 'resolved' } }, 400],
    [{ verb: 'redrive', selection: filter, rate: 'fast' }, 400],
    [{ verb: 'redrive', selection: filter, note: 'x' }, 400],
    [{ verb: 'discard', selection: filter }, 400],
    [{ verb: 'discard', selection: filter, note: ' ' }, 400],
    [{ verb: 'destroy', selection: filter, note: 'x' }, 400],
    [{ verb: 'redrive', selection: { job: 'nobody' } }, 404],
    [{ verb: 'redrive', selection: { ids: ['../../x'] } }, 404],
    [{ verb: 'redrive', selection: { fromAt: 2, toAt: 1 } }, 400],
  ])('is refused, and leaves no trace: %j', async (body, status) => {
    const answer = await change(body)
    expect([answer.status, typeof answer.body.error?.code]).toEqual([status, 'string'])
    expect((await ask('/api/letter-changes')).body['changes']).toEqual([])
  })

  it('is not for everybody: a viewer changes nothing, to discard several needs an admin', async () => {
    const redrive = { verb: 'redrive', selection: filter }
    const discard = { verb: 'discard', selection: { ids: ids.slice(0, 2) }, note: 'x' }
    expect((await change(redrive, 'viewer')).status).toBe(403)
    expect((await change(redrive, 'viewer', '/api/letter-changes/preview')).status).toBe(403)
    expect((await ask('/api/letter-changes/1', { as: 'viewer', method: 'DELETE' })).status).toBe(403)
    expect((await change(discard, 'operator')).body.error?.code).toBe('CRONCE_NOT_ALLOWED')
    expect((await ask('/api/letter-changes', { as: 'viewer' })).body).toEqual({ changes: [] })
    expect(await countDeadLetters(ground.stage.store, 'invoice-run')).toBe(MANY + HOSTILE.length)
  })

  it('is previewed without a change, goes on by itself, and only one at a time', async () => {
    const preview = await change({ verb: 'discard', selection: filter }, 'admin', '/api/letter-changes/preview')
    const none = { abandonedLeft: 0, selectedAt: expect.any(Number) as number, settled: [] }
    expect([preview.status, preview.body]).toEqual([200, { entities: 6_000, runs: 1, ...none }])
    expect(await countDeadLetters(ground.stage.store, 'invoice-run')).toBe(MANY + HOSTILE.length)
    const first = await change({ verb: 'discard', selection: filter, note: 'gone', rate: '1000/s' })
    expect([first.status, first.body['state'], first.body['total']]).toEqual([202, 'running', 6_000])
    const second = await change({ verb: 'redrive', selection: { job: 'invoice-run' } })
    expect([second.status, second.body.error]).toEqual([
      409,
      expect.objectContaining({ code: 'CRONCE_CONSOLE_STALE', state: 'not the next: a discard is under way' }),
    ])
    await waitUntil(async () => ((await last())?.ended ?? 0) >= 1_000, { message: 'some progress' })
    const stopped = await ask(`/api/letter-changes/${String(first.body['id'])}`, { method: 'DELETE' })
    expect(['stopping', 'stopped']).toContain(stopped.body['state'])
    const { body: journal } = await ask('/api/actions?limit=5')
    const selection = 'job=invoice-run error="HTTP 404"'
    expect(journal['actions']).toContainEqual(
      expect.objectContaining({ action: 'discard', selection, outcome: 'done', result: 'told to stop' }),
    )
    const { state, result } = (await ended()) ?? {}
    const done = MANY + HOSTILE.length - (await countDeadLetters(ground.stage.store, 'invoice-run'))
    expect([state, result]).toEqual(['stopped', { entities: done, runs: 1, unchanged: 0, left: 6_000 - done }])
    expect((await ask(`/api/letter-changes/${String(first.body['id'])}`, { method: 'DELETE' })).status).toBe(409)
    expect((await change({ verb: 'discard', selection: filter, note: 'gone' })).status).toBe(202)
    expect(await ended()).toMatchObject({ state: 'ended', result: { entities: 6_000 - done, left: 0 } })
    expect(await countDeadLetters(ground.stage.store, 'invoice-run')).toBe(6_000 + HOSTILE.length)
  })

  it('of letters that are not open any more answers 409 with what they are by now; the others are changed', async () => {
    const [gone = ''] = ids
    const stale = await change({ verb: 'redrive', selection: { ids: [gone] } })
    expect([stale.status, stale.body.error]).toEqual([409, expect.objectContaining({ state: 'discarded' })])
    const some = await change({ verb: 'discard', selection: { ids: ids.slice(0, 2) }, note: 'x' })
    expect([some.status, some.body['total']]).toEqual([202, 1])
    expect(await ended()).toMatchObject({ state: 'ended', result: { entities: 1 } })
  })

  it('leaves what died after its preview', async () => {
    const selection = { job: 'invoice-run', fromAt: DIED_AT + 100, toAt: DIED_AT + 120 }
    const preview = await change({ verb: 'discard', selection }, 'admin', '/api/letter-changes/preview')
    expect(preview.body['selectedAt']).toBeGreaterThan(DIED_AT + 120)
    const open = await countDeadLetters(ground.stage.store, 'invoice-run')
    // As if the preview had been in the middle of the stretch: every other one is open.
    const begun = await change({ verb: 'discard', selection, note: 'x', selectedAt: DIED_AT + 110 })
    expect([begun.status, begun.body['total'], preview.body['entities']]).toEqual([202, 5, 10])
    expect(await ended()).toMatchObject({ state: 'ended', result: { entities: 5, unchanged: 0, left: 0 } })
    expect(await countDeadLetters(ground.stage.store, 'invoice-run')).toBe(open - 5)
    const later = await change({ verb: 'discard', selection, note: 'x', selectedAt: 8e15 })
    expect(later.body['total']).toBe(5)
    expect(await ended()).toMatchObject({ state: 'ended', result: { entities: 5 } })
  })

  it('of one letter that died again since it was seen answers 409 and leaves it open', async () => {
    const id = ids[201] ?? ''
    const path = `/api/dead/${encodeURIComponent(id)}`
    const open = await countDeadLetters(ground.stage.store, 'invoice-run')
    for (const [verb, body] of [
      ['redrive', {}],
      ['discard', { note: 'x' }],
    ] as const) {
      const answer = await change({ ...body, at: DIED_AT + 200 }, 'admin', `${path}/${verb}`)
      const state = `open again: it died at ${new Date(DIED_AT + 201).toISOString()}`
      expect([answer.status, answer.body.error]).toEqual([409, expect.objectContaining({ state })])
    }
    expect(await countDeadLetters(ground.stage.store, 'invoice-run')).toBe(open)
    expect((await change({ note: 'x', at: DIED_AT + 201 }, 'admin', `${path}/discard`)).status).toBe(200)
    const again = await change({ note: 'x', at: DIED_AT + 201 }, 'admin', `${path}/discard`)
    expect([again.status, again.body.error]).toEqual([409, expect.objectContaining({ state: 'discarded' })])
  })

  it('that fails on the way says so, and the log of the console says why', async () => {
    const { redis } = ground.stage
    const key = `${jobKey(ground.stage.store.service, 'invoice-run')}:dead:${ids[3] ?? ''}`
    // The oldest: its turn is the last.
    const selection = { job: 'invoice-run', error: 'HTTP 503', toAt: DIED_AT + 60 }
    expect((await change({ verb: 'discard', selection, note: 'x', rate: '10/s' })).status).toBe(202)
    await redis.multi().rename(key, `${key}:kept`).set(key, 'no letter').exec()
    expect(await ended()).toMatchObject({ state: 'failed', error: 'the console failed; its log has the error' })
    await redis.rename(`${key}:kept`, key)
    const line = await opened.process.waitForLine(({ json }) => json?.['msg'] === 'a change of dead letters failed')
    expect(line.text).toContain('WRONGTYPE')
  })

  it('takes a thousand long ids at once, and no more', async () => {
    const long = Array.from({ length: 1_000 }, (_, index) => `${ids[0] ?? ''}${'x'.repeat(500)}${index}`)
    expect((await change({ verb: 'redrive', selection: { ids: long } })).status).toBe(404)
    expect((await change({ verb: 'redrive', selection: { ids: [...long, 'y'] } })).status).toBe(400)
    expect((await change({ verb: 'redrive', selection: { ids: [long.join('').repeat(3)] } })).status).toBe(413)
  })

  it('is stopped with the console, which ends cleanly; what is left is left open', async () => {
    const open = await countDeadLetters(ground.stage.store, 'invoice-run')
    const { status } = await change({
      verb: 'redrive',
      selection: { job: 'invoice-run', error: 'HTTP 503' },
      rate: '100/s',
    })
    expect(status).toBe(202)
    await waitUntil(async () => ((await last())?.ended ?? 0) >= 100, { message: 'some progress' })
    const { code } = await opened.process.kill('SIGTERM')
    expect(code).toBe(0)
    const left = await countDeadLetters(ground.stage.store, 'invoice-run')
    expect(left).toBeLessThan(open)
    expect(left).toBeGreaterThan(5_000)
  })
})
