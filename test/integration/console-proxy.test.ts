import { listActions } from '@cronce/operations'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ConsoleGround, openGround, TOKENS } from '../browser/console-ground.ts'
import { spawnProcess } from '../support/index.ts'
import { ask, type WireAnswer } from './console-request.ts'

const SECRET = 'a-secret-of-the-proxy-0123456789'
const PROXY = '127.0.0.2'
const ENV = {
  CRONCE_CONSOLE_PROXY_HEADER: 'X-Forwarded-User',
  CRONCE_CONSOLE_PROXY_GROUPS: 'x-forwarded-groups',
  CRONCE_CONSOLE_PROXY_ROLES: 'ada@example.com:admin @oncall:operator *:viewer',
  CRONCE_CONSOLE_PROXY_FROM: '127.0.0.2 10.0.0.0/8',
  CRONCE_CONSOLE_PROXY_SECRET: SECRET,
}
const VOUCHED = { 'cronce-proxy-secret': SECRET, 'x-forwarded-host': 'cronce.example.com' }
const OWN_PAGE = { 'x-cronce-console': '1', origin: 'https://cronce.example.com', 'content-type': 'application/json' }

let ground: ConsoleGround
let url: string

beforeAll(async () => {
  ground = await openGround()
  ;({ url } = await ground.startConsole(ENV))
})
afterAll(() => ground.close())

const whoAmI = (headers: Record<string, string | readonly string[]>, from = PROXY): Promise<WireAnswer> =>
  ask({ url, path: '/api/session', headers, from })

describe('behind a proxy', () => {
  it.each([
    ['ada@example.com', '', 'admin'],
    ['bob', 'sales, oncall', 'operator'],
    ['bob', 'oncallers', 'viewer'],
    ['oncall', '', 'viewer'],
    ['日次 (née ø)', '', 'viewer'],
  ])('who it says asks has the role that name and groups give: %s of %s is %s', async (name, groups, role) => {
    const user = Buffer.from(name).toString('latin1')
    const answer = await whoAmI({ ...VOUCHED, 'x-forwarded-user': user, 'x-forwarded-groups': groups })
    expect([answer.status, answer.json]).toMatchObject([200, { role }])
  })

  it('a change is written under that name, with its role, and only from our own page', async () => {
    const headers = { ...VOUCHED, 'x-forwarded-user': 'bob', 'x-forwarded-groups': 'oncall' }
    const pause = (more: Record<string, string>) =>
      ask({
        url,
        method: 'POST',
        path: '/api/jobs/settlement/pause',
        body: '{"note":"x"}',
        from: PROXY,
        headers: { ...headers, ...more },
      })
    for (const more of [
      { 'content-type': 'application/json' },
      { ...OWN_PAGE, origin: 'https://evil.example.com' },
      { ...OWN_PAGE, 'sec-fetch-site': 'cross-site' },
    ]) {
      const refused = await pause(more)
      expect([refused.status, refused.error?.code]).toEqual([403, 'CRONCE_CONSOLE_ORIGIN'])
    }
    expect((await pause(OWN_PAGE)).status).toBe(200)
    const { rows } = await listActions(ground.stage.store, { job: 'settlement' })
    expect(rows).toMatchObject([{ by: 'bob', way: 'console', role: 'operator', action: 'pause' }])
    const viewer = await ask({
      ...{ url, method: 'POST', path: '/api/jobs/settlement/resume', body: '{}', from: PROXY },
      headers: { ...VOUCHED, ...OWN_PAGE, 'x-forwarded-user': 'vera' },
    })
    expect([viewer.status, viewer.error?.code]).toEqual([403, 'CRONCE_CONSOLE_ROLE'])
  })

  it('the header of anybody else is refused, whatever else they send, and their token with it', async () => {
    const admin = { 'x-forwarded-user': 'ada@example.com' }
    for (const [headers, from] of [
      [admin, PROXY],
      [{ ...admin, 'cronce-proxy-secret': SECRET.slice(1) }, PROXY],
      [{ ...admin, 'cronce-proxy-secret': '' }, PROXY],
      [{ ...admin, ...VOUCHED }, '127.0.0.1'],
      [{ ...admin, ...VOUCHED }, '127.0.0.3'],
      [{ ...admin, ...VOUCHED, 'x-forwarded-for': PROXY }, '127.0.0.1'],
      [{ ...admin, authorization: `Bearer ${TOKENS.viewer}` }, '127.0.0.1'],
      [{ ...VOUCHED, 'x-forwarded-user': ['ada@example.com', 'eve'] }, PROXY],
      [{ ...VOUCHED, 'x-forwarded-user': 'eve, ada@example.com' }, PROXY],
      [{ ...VOUCHED, 'x-forwarded-user': ' ' }, PROXY],
    ] as const) {
      const answer = await whoAmI(headers, from)
      expect([answer.status, answer.error?.code]).toEqual([403, 'CRONCE_CONSOLE_PROXY'])
      expect(answer.text).not.toContain(SECRET)
    }
  })

  it('who comes past it is nobody without a token, and somebody with one', async () => {
    expect((await whoAmI({}, '127.0.0.1')).status).toBe(401)
    expect((await whoAmI({}, PROXY)).status).toBe(401)
    const direct = await whoAmI({ authorization: `Bearer ${TOKENS.operator}` }, '127.0.0.1')
    expect(direct.json).toMatchObject({ name: 'the-operator', role: 'operator' })
  })

  it('whom it names decides, not the session that the browser has from before', async () => {
    const signedIn = await ask({
      ...{ url, method: 'POST', path: '/api/session', body: JSON.stringify({ token: TOKENS.admin }) },
      headers: { 'content-type': 'application/json', 'x-cronce-console': '1' },
    })
    const cookie = String(signedIn.headers['set-cookie']).split(';')[0] ?? ''
    expect((await whoAmI({ cookie }, '127.0.0.1')).json).toMatchObject({ role: 'admin' })
    expect((await whoAmI({ ...VOUCHED, cookie, 'x-forwarded-user': 'vera' })).json).toMatchObject({ role: 'viewer' })
  })

  it('metrics are for who is signed in', async () => {
    expect((await ask({ url, path: '/metrics' })).status).toBe(401)
  })
})

describe('without one configured', () => {
  it('identity headers mean nothing', async () => {
    const { url: plain } = await ground.startConsole()
    const headers = { ...VOUCHED, 'x-forwarded-user': 'ada@example.com' }
    expect((await ask({ url: plain, path: '/api/session', headers })).status).toBe(401)
  })

  it.each([
    [
      { CRONCE_CONSOLE_PROXY_HEADER: 'x-user' },
      [
        'CRONCE_CONSOLE_PROXY_ROLES: expected who may what',
        'CRONCE_CONSOLE_PROXY_SECRET: expected a secret, because nothing else',
      ],
    ],
    [
      {
        CRONCE_CONSOLE_PROXY_HEADER: 'x-user',
        CRONCE_CONSOLE_PROXY_ROLES: '*:viewer',
        CRONCE_CONSOLE_PROXY_FROM: '::1',
      },
      ['expected a secret, because every program of this machine'],
    ],
    [{ CRONCE_CONSOLE_PROXY_HEADER: 'authorization' }, ['CRONCE_CONSOLE_PROXY_HEADER: expected the name of a header']],
    [
      {
        CRONCE_CONSOLE_PROXY_HEADER: 'x-user',
        CRONCE_CONSOLE_PROXY_ROLES: 'ada:boss',
        CRONCE_CONSOLE_PROXY_FROM: '10.0.0.0/99',
      },
      ['name:role, @group:role or *:role at place 1', 'such as 10.1.0.0/16 at place 1'],
    ],
  ])('a half of one is refused, with every fault at once: %j', async (env, messages) => {
    const refused = await spawnProcess({
      file: 'apps/console/src/main.ts',
      env: { REDIS_URL: ground.redis.url, ...env },
    })
    expect((await refused.exited).code).toBe(2)
    const text = refused.lines.map((line) => line.text).join('\n')
    for (const message of messages) expect(text).toContain(message)
  })
})

describe('wrong tokens', () => {
  it('are few a minute from one address: then it waits, told how long, and nobody else does', async () => {
    const from = '127.0.0.9'
    const guess = (token: string, address = from) =>
      ask({ url, path: '/api/session', headers: { authorization: `Bearer ${token}` }, from: address })
    for (let number = 0; number < 30; number++) expect((await guess(`guess-number-${number}`)).status).toBe(401)
    const slowed = await guess('one-guess-more')
    expect([slowed.status, slowed.error?.code]).toEqual([429, 'CRONCE_CONSOLE_WAIT'])
    expect(Number(slowed.headers['retry-after'])).toBeGreaterThan(0)
    expect(Number(slowed.headers['retry-after'])).toBeLessThanOrEqual(60)
    const form = (token: string) =>
      ask({
        ...{ url, method: 'POST', path: '/api/session', body: JSON.stringify({ token }), from },
        headers: { 'content-type': 'application/json', 'x-cronce-console': '1' },
      })
    const slowedForm = await form('one-guess-more')
    expect([slowedForm.status, slowedForm.headers['set-cookie']]).toEqual([429, undefined])
    expect((await ask({ url, path: '/login?token=guess', from })).status).toBe(429)
    expect((await guess('a-guess-elsewhere', '127.0.0.8')).status).toBe(401)
    // Whoever shares the address with them is not held up.
    expect((await guess(TOKENS.admin)).json).toMatchObject({ role: 'admin' })
    expect((await form(TOKENS.viewer)).json).toMatchObject({ role: 'viewer' })
  })

  it('that come through the proxy are counted by the client that it names', async () => {
    const through = (client: string, token: string) =>
      ask({
        url,
        path: '/api/session',
        headers: { authorization: `Bearer ${token}`, 'x-forwarded-for': client },
        from: PROXY,
      })
    for (let number = 0; number < 30; number++) await through('203.0.113.7', `guess-number-${number}`)
    expect((await through('203.0.113.7', 'one-guess-more')).status).toBe(429)
    expect((await through('203.0.113.8', 'a-guess-elsewhere')).status).toBe(401)
    expect((await through('203.0.113.7', TOKENS.viewer)).status).toBe(200)
    // Who is no proxy names nobody.
    const from = '127.0.0.7'
    for (let number = 0; number < 30; number++) {
      const headers = { authorization: 'Bearer guess', 'x-forwarded-for': `198.51.100.${number}` }
      await ask({ url, path: '/api/session', from, headers })
    }
    const headers = { authorization: 'Bearer guess', 'x-forwarded-for': '198.51.100.200' }
    expect((await ask({ url, path: '/api/session', from, headers })).status).toBe(429)
  })

  it('that come through a proxy that signs nobody in are as well, and its identity headers mean nothing', async () => {
    const { url: behind } = await ground.startConsole({ CRONCE_CONSOLE_PROXY_FROM: PROXY })
    const through = (client: string, headers: Record<string, string>) =>
      ask({ url: behind, path: '/api/session', headers: { 'x-forwarded-for': client, ...headers }, from: PROXY })
    const guess = { authorization: 'Bearer guess' }
    for (let number = 0; number < 30; number++) await through('203.0.113.7', guess)
    expect((await through('203.0.113.7', guess)).status).toBe(429)
    expect((await through('203.0.113.8', guess)).status).toBe(401)
    expect((await through('203.0.113.8', { 'x-forwarded-user': 'ada@example.com' })).status).toBe(401)
  })
})
