import { request as httpRequest } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ConsoleGround, type ConsoleProcess, HOSTILE, openGround, TOKENS } from '../browser/console-ground.ts'
import { spawnProcess, waitUntil } from '../support/index.ts'

let ground: ConsoleGround
let opened: ConsoleProcess

beforeAll(async () => {
  ground = await openGround()
  opened = await ground.startConsole()
})
afterAll(() => ground.close())

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: {
    readonly error?: { readonly code: string; readonly message: string; readonly state?: string }
  } & Record<string, unknown>
}

type Role = keyof typeof TOKENS

interface Ask {
  readonly as?: Role
  readonly method?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

async function ask(path: string, { as, method = 'GET', body, headers = {} }: Ask = {}): Promise<Answer> {
  const answer = await fetch(new URL(path, opened.url), {
    method,
    redirect: 'manual',
    headers: {
      ...(as === undefined ? {} : { authorization: `Bearer ${TOKENS[as]}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await answer.text()
  const isJson = answer.headers.get('content-type')?.includes('json') === true
  return {
    status: answer.status,
    headers: answer.headers,
    body: (isJson ? JSON.parse(text) : { text }) as Answer['body'],
  }
}

const letterPath = (entity: string) => `/api/dead/${encodeURIComponent(letterId(entity))}`
let letters: { id: string; entity: string }[] = []
const letterId = (entity: string) => letters.find((letter) => letter.entity === entity)?.id ?? 'none'

const WRITES = [
  ['POST', '/api/dead/x/redrive'],
  ['POST', '/api/dead/x/discard'],
  ['POST', '/api/jobs/invoice-run/run'],
  ['POST', '/api/jobs/invoice-run/pause'],
  ['POST', '/api/jobs/invoice-run/resume'],
  ['DELETE', '/api/runs/x'],
  ['PUT', '/api/schedules'],
  ['PATCH', '/there/is/no/such/path'],
  ['POST', '/%2e%2e/api/jobs/invoice-run/run'],
] as const

describe('who is not signed in', () => {
  it.each(['/api/schedules', '/api/runs', '/api/dead', '/api/presence', '/api/audit', '/api/session', '/metrics'])(
    'reads nothing at %s',
    async (path) => {
      const { status, body } = await ask(path)
      expect([status, body.error?.code]).toEqual([401, 'CRONCE_CONSOLE_SIGN_IN'])
    },
  )

  it.each(WRITES)('changes nothing: %s %s', async (method, path) => {
    expect((await ask(path, { method, headers: { 'x-cronce-console': '1' } })).status).toBe(401)
    expect((await ask(path, { method })).status).toBe(403)
  })

  it('gets the page and the probes, with a policy that lets nothing from elsewhere in', async () => {
    for (const path of ['/', '/healthz', '/readyz']) {
      const { status, headers } = await ask(path)
      expect(status).toBe(200)
      expect(headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'")
      expect(headers.get('content-security-policy')).not.toContain('unsafe')
      expect([headers.get('x-content-type-options'), headers.get('x-frame-options')]).toEqual(['nosniff', 'DENY'])
    }
  })
})

describe('a viewer', () => {
  it.each(WRITES)('is refused by the server: %s %s', async (method, path) => {
    const { status, body } = await ask(path, { as: 'viewer', method, body: {} })
    expect([status, body.error?.code]).toEqual([403, 'CRONCE_CONSOLE_ROLE'])
  })

  it('reads what there is', async () => {
    const { body } = await ask('/api/dead', { as: 'viewer' })
    letters = body['letters'] as typeof letters
    expect(letters.map(({ entity }) => entity).toSorted()).toEqual([...HOSTILE].toSorted())
    const runs = await ask('/api/runs?limit=1', { as: 'viewer' })
    expect([(runs.body['runs'] as unknown[]).length, typeof runs.body['next']]).toEqual([1, 'string'])
    const following = await ask(`/api/runs?limit=1&cursor=${String(runs.body['next'])}`, { as: 'viewer' })
    expect(following.body['runs']).not.toEqual(runs.body['runs'])
  })

  it('audits every job over two days at once, and one job over a month', async () => {
    const audit = async (query: string) => {
      const { status, body } = await ask(`/api/audit?${query}`, { as: 'viewer' })
      return [status, body.error?.message ?? body['jobs']]
    }
    expect(await audit('hours=49')).toEqual([400, expect.stringContaining('hours: expected at most 48 of every job')])
    const [status, jobs] = await audit('hours=48')
    expect([status, Number(jobs) > 1]).toEqual([200, true])
    expect(await audit('hours=744&job=invoice-run')).toEqual([200, 1])
  })

  it('is told first what is overdue, and why', async () => {
    const schedules = await waitUntil(
      async () => {
        const { body } = await ask('/api/schedules', { as: 'viewer' })
        return (body['summary'] as { overdue: unknown[] }).overdue.length > 0 ? body : undefined
      },
      { message: 'settlement is overdue' },
    )
    expect(schedules['jobs']).toMatchObject([
      { name: 'settlement', overdue: [{ reason: expect.stringContaining('no worker serves queue "finance"') }] },
      { name: 'invoice-run', zone: 'Europe/Berlin', deadLetters: 4, slots: [{ mark: 'partial' }] },
    ])
    expect(schedules['jobs']).toMatchObject([{ next: { local: expect.stringMatching(/ -0[45]:00$/) } }, {}])
  })

  it('reads metrics that say the same', async () => {
    const { body } = await ask('/metrics', { as: 'viewer' })
    const { service } = ground.stage
    for (const line of [
      `cronce_dead_letters{service_name="${service}",job_name="invoice-run"} 4`,
      `cronce_overdue_slots{service_name="${service}",job_name="settlement",kind="start"} 1`,
      `cronce_recent_runs{service_name="${service}",job_name="invoice-run",state="partial"} 1`,
      `cronce_live_processes{service_name="${service}",role="worker",release="`,
      `cronce_queue_depth{service_name="${service}",queue="finance",state="waiting"} 1`,
    ])
      expect(body['text']).toContain(line)
  })
})

describe('ids', () => {
  it.each(HOSTILE)('of any characters find their dead letter: %s', async (entity) => {
    const { status, body } = await ask(letterPath(entity), { as: 'viewer' })
    expect([status, body['entity']]).toEqual([200, entity])
    expect(body['errors']).toHaveLength(1)
  })

  it.each(['..%2f..%2fetc%2fpasswd', '%00', 'x'.repeat(3_000), '%F0%9F%92%A9', '__proto__', '%7B%7D*'])(
    'that are none are refused, and nothing fails: %s',
    async (id) => {
      for (const path of [`/api/dead/${id}`, `/api/runs/${id}`]) {
        const { status, body } = await ask(path, { as: 'viewer' })
        expect([400, 404]).toContain(status)
        expect(body.error?.message).toBeTruthy()
      }
    },
  )

  it.each([
    ['/api/runs?limit=0', 400],
    ['/api/runs?limit=100000', 400],
    ['/api/runs?state=odd', 400],
    ['/api/runs?cursor=%22', 400],
    ['/api/runs?unknown=1', 400],
    ['/api/runs?job=nobody', 404],
  ])('and queries are refused where they are wrong: %s', async (path, expected) => {
    expect((await ask(path, { as: 'viewer' })).status).toBe(expected)
  })
})

describe('a session', () => {
  const cookieOf = ({ headers }: Answer) => headers.get('set-cookie')?.split(';')[0] ?? ''

  it('is begun by the link, once, in a cookie that no script reads and no other site sends', async () => {
    const first = await ask(opened.signInUrl)
    expect([first.status, first.headers.get('location')]).toEqual([303, '/'])
    expect(first.headers.get('set-cookie')).toMatch(/HttpOnly; SameSite=Strict; Max-Age=43200$/)
    expect((await ask('/api/session', { headers: { cookie: cookieOf(first) } })).body).toMatchObject({
      role: 'operator',
    })
    const second = await ask(opened.signInUrl)
    expect([second.headers.get('location'), second.headers.get('set-cookie')]).toEqual(['/?link=used', null])
  })

  it('is begun by no token in an address', async () => {
    const { status, headers } = await ask(`/login?token=${TOKENS.viewer}`)
    expect([status, headers.get('location'), headers.get('set-cookie')]).toEqual([303, '/?link=used', null])
  })

  it('changes nothing for the page of another host', async () => {
    const signedIn = await ask('/api/session', {
      method: 'POST',
      body: { token: TOKENS.operator },
      headers: { 'x-cronce-console': '1' },
    })
    const cookie = cookieOf(signedIn)
    const pause = (headers: Record<string, string>) =>
      ask('/api/jobs/invoice-run/pause', { method: 'POST', body: { note: 'x' }, headers: { cookie, ...headers } })
    const own = { 'x-cronce-console': '1' }
    for (const headers of [
      {},
      { ...own, origin: 'http://evil.example' },
      { ...own, origin: 'null' },
      { ...own, 'sec-fetch-site': 'same-site' },
    ]) {
      const { status, body } = await pause(headers)
      expect([status, body.error?.code]).toEqual([403, 'CRONCE_CONSOLE_ORIGIN'])
    }
    await ask('/api/session', { method: 'DELETE', headers: { cookie, ...own } })
    expect((await ask('/api/session', { headers: { cookie } })).status).toBe(401)
  })

  it('is not for a name that somebody points at this machine', async () => {
    const status = await new Promise((resolve, reject) => {
      const target = new URL('/healthz', opened.url)
      httpRequest(target, { headers: { host: 'evil.example' } }, (answer) => resolve(answer.statusCode))
        .on('error', reject)
        .end()
    })
    expect(status).toBe(403)
  })
})

describe('an operator', () => {
  it('pauses and resumes with a note, under their own name; a stale action answers what is so by now', async () => {
    const pause = () =>
      ask('/api/jobs/settlement/pause', { as: 'operator', method: 'POST', body: { note: 'bank is shut' } })
    expect((await pause()).body).toMatchObject({
      status: 'paused',
      pause: { by: 'the-operator', note: 'bank is shut' },
    })
    const again = await pause()
    expect([again.status, again.body.error?.state]).toEqual([409, 'paused'])
    expect((await ask('/api/jobs/settlement/resume', { as: 'operator', method: 'POST', body: {} })).status).toBe(200)
  })

  it('runs a job now, once per request id', async () => {
    const run = () =>
      ask('/api/jobs/invoice-run/run', { as: 'admin', method: 'POST', body: { note: 'again', requestId: 'r-1' } })
    const first = (await run()).body
    expect((await run()).body).toEqual({ slot: first['slot'], status: 'repeated', reason: '' })
  })

  it('discards a dead letter, and is told when somebody was first', async () => {
    const discard = () =>
      ask(`${letterPath('plain')}/discard`, { as: 'operator', method: 'POST', body: { note: 'test account' } })
    expect((await discard()).body).toMatchObject({ entities: 1 })
    const again = await discard()
    expect([again.status, again.body.error?.state]).toEqual([409, 'discarded'])
  })

  it.each([
    ['not JSON', '{"note":', {}, 400],
    ['another type', 'note=x', { 'content-type': 'text/plain' }, 415],
    ['too much', JSON.stringify({ note: 'x'.repeat(20_000) }), {}, 413],
    ['an unknown field', { note: 'x', force: true }, {}, 400],
    ['no note', {}, {}, 400],
  ] as const)('is told what is wrong with a body: %s', async (_, body, headers, expected) => {
    const { status, body: answer } = await ask('/api/jobs/settlement/pause', {
      as: 'operator',
      method: 'POST',
      body,
      headers,
    })
    expect([status, typeof answer.error?.message]).toEqual([expected, 'string'])
  })
})

describe('the process', () => {
  it('refuses to listen beyond this machine without tokens', async () => {
    const env = { REDIS_URL: ground.redis.url, HOST: '0.0.0.0' }
    const refused = await spawnProcess({ file: 'apps/console/src/main.ts', env })
    expect((await refused.exited).code).toBe(2)
    expect(refused.lines.map(({ text }) => text).join('\n')).toContain(
      'CRONCE_CONSOLE_TOKENS: expected at least one token',
    )
  })

  it('stops by itself when told to', async () => {
    const { process, url } = await ground.startConsole()
    expect((await fetch(new URL('/healthz', url))).status).toBe(200)
    expect(await process.kill('SIGTERM')).toEqual({ code: 0, signal: null })
  })

  it('says that Redis is away, goes on living, and works when it is back', async () => {
    await ground.redis.kill()
    const down = await ask('/api/schedules', { as: 'viewer' })
    expect([down.status, down.body.error?.code]).toEqual([503, 'CRONCE_REDIS_UNREACHABLE'])
    expect([(await ask('/readyz')).status, (await ask('/healthz')).status]).toEqual([503, 200])
    await ground.redis.restart()
    await waitUntil(async () => (await ask('/readyz')).status === 200, { message: 'ready again' })
  })
})
