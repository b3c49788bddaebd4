import { listActions } from '@cronce/operations'
import { readJob } from '@cronce/store'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ConsoleGround, openGround, TOKENS } from '../browser/console-ground.ts'
import { ask } from './console-request.ts'

let ground: ConsoleGround
let url: string

beforeAll(async () => {
  ground = await openGround()
  ;({ url } = await ground.startConsole())
})
afterAll(() => ground.close())

const as = (role: keyof typeof TOKENS) => ({ authorization: `Bearer ${TOKENS[role]}` })
const JSON_BODY = { 'content-type': 'application/json' }
const RUN = '/api/jobs/invoice-run/run'
const slots = async () =>
  JSON.stringify((await ask({ url, path: '/api/runs?limit=200', headers: as('viewer') })).json).length

/** Methods that are no GET: those that HTTP knows, and those that only node's parser does. */
const METHODS = [
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'MKCOL',
  'LOCK',
  'PURGE',
  'QUERY',
  'SEARCH',
  'LINK',
  'MERGE',
  'NOTIFY',
  'REPORT',
  'SUBSCRIBE',
]

/** The path of a change, written so that a check by path might miss what a router finds, or the other way round. */
const TRICKS = [
  RUN,
  `/${RUN}`,
  `${RUN}/`,
  '/api//jobs/invoice-run/run',
  '/api/./jobs/invoice-run/run',
  '/api/x/../jobs/invoice-run/run',
  '/%61pi/jobs/invoice-run/run',
  '/api/jobs/invoice-run/%72un',
  '/api/jobs/invoice%2Drun/run',
  '/api/jobs%2Finvoice-run/run',
  '/api%5Cjobs%5Cinvoice-run%5Crun',
  '/API/jobs/invoice-run/run',
  '/api/jobs/invoice-run/run;x=1',
  '/api/jobs/invoice-run/run%00',
  '/api/jobs/invoice-run/run%20',
  '/api/jobs/invoice-run/run%0d%0aX:1',
  '/api/jobs/invoice-run/run?_method=GET',
  '/api/jobs/invoice-run/run#/healthz',
  '/healthz/../api/jobs/invoice-run/run',
  '/healthz/..%2fapi/jobs/invoice-run/run',
  '/login/../api/jobs/invoice-run/run',
  '/api/jobs/%EF%BD%89nvoice-run/run',
  '/api/jobs/invoice-run\u0000/run'.replace('\u0000', '%c0%80'),
  '/api/dead/x/redrive',
  '/api/jobs/invoice-run/slots/20261128T010000Z/run',
  '/api/jobs/invoice-run/backfill',
  '*',
  '//evil.example/api/jobs/invoice-run/run',
]

describe('C80: a viewer', () => {
  it.each(METHODS)('changes nothing by any method: %s', async (method) => {
    const before = await slots()
    for (const path of [RUN, '/api/schedules', '/no/such/path', '/']) {
      const { status, error } = await ask({ url, method, path, headers: { ...as('viewer'), ...JSON_BODY }, body: '{}' })
      expect([status, error?.code, path]).toEqual([403, 'CRONCE_CONSOLE_ROLE', path])
    }
    expect(await slots()).toBe(before)
  })

  it.each(TRICKS)('changes nothing by any path: %s', async (path) => {
    const before = await slots()
    const post = { url, method: 'POST', path, headers: { ...as('viewer'), ...JSON_BODY }, body: '{}' }
    const { status } = await ask(post)
    // 400 where the path is none at all, before anything looks at it.
    expect([400, 403]).toContain(status)
    expect(await slots()).toBe(before)
  })

  it.each([
    [{ 'x-http-method-override': 'POST' }, ''],
    [{ 'x-http-method': 'POST', 'x-method-override': 'POST' }, ''],
    [{}, '?_method=POST'],
  ])('overrides no method: %j %s', async (headers, query) => {
    const before = await slots()
    for (const method of ['GET', 'HEAD']) {
      const { status } = await ask({ url, method, path: `${RUN}${query}`, headers: { ...as('viewer'), ...headers } })
      expect(status).toBe(404)
    }
    expect(await slots()).toBe(before)
  })

  it('is told the header of an answer by HEAD, and nothing is begun by it', async () => {
    const { status, text } = await ask({ url, method: 'HEAD', path: '/api/schedules', headers: as('viewer') })
    expect([status, text]).toEqual([200, ''])
    expect((await ask({ url, method: 'HEAD', path: '/login?token=x' })).status).not.toBe(303)
  })

  it('sees a payload without what its definition hides, and only an admin has it revealed', async () => {
    const id = encodeURIComponent(`${ground.run.slot}/plain`)
    const settings = { name: 'invoice-run', queue: 'default', redact: ['note'] } as const
    const key = `cronce:{${ground.stage.service}:job:invoice-run}:job`
    const stored = JSON.parse((await ground.stage.redis.hget(key, 'settings')) ?? '{}') as object
    await ground.stage.redis.hset(key, 'settings', JSON.stringify({ ...stored, ...settings }))
    const { json, text } = await ask({ url, path: `/api/dead/${id}`, headers: as('admin') })
    expect(json).toMatchObject({ payload: { id: 'plain', note: '[redacted]' }, redacted: true })
    expect(text).not.toContain('document.title')
    const reveal = (role: keyof typeof TOKENS) =>
      ask({
        url,
        method: 'POST',
        path: `/api/dead/${id}/reveal`,
        headers: { ...as(role), ...JSON_BODY },
        body: '{"note":"4711"}',
      })
    expect((await reveal('viewer')).error?.code).toBe('CRONCE_CONSOLE_ROLE')
    expect((await reveal('operator')).error?.code).toBe('CRONCE_NOT_ALLOWED')
    expect((await listActions(ground.stage.store)).rows).toEqual([])
    expect((await reveal('admin')).json).toMatchObject({ payload: { note: expect.stringContaining('document.title') } })
    const { rows } = await listActions(ground.stage.store, { slot: ground.run.slot })
    expect(rows).toMatchObject([{ action: 'reveal', by: 'the-admin', note: '4711' }])
  })

  it('has left no row in the journal', async () => {
    expect((await listActions(ground.stage.store, { who: 'the-viewer' })).rows).toEqual([])
  })
})

describe('an operator', () => {
  it('may not what only admins may: to walk an ended run again', async () => {
    const path = `/api/jobs/invoice-run/slots/${encodeURIComponent(ground.run.slot)}/run`
    const walk = (role: keyof typeof TOKENS) =>
      ask({ url, method: 'POST', path, headers: { ...as(role), ...JSON_BODY }, body: '{"ended":"walk-again"}' })
    const refused = await walk('operator')
    expect([refused.status, refused.error?.code]).toEqual([403, 'CRONCE_NOT_ALLOWED'])
    const plain = await ask({ url, method: 'POST', path, headers: { ...as('operator'), ...JSON_BODY }, body: '{}' })
    expect([plain.status, plain.error]).toMatchObject([409, { code: 'CRONCE_SLOT_DONE', state: 'partial' }])
    expect((await walk('admin')).json).toMatchObject({ status: 'walking' })
    const { rows } = await listActions(ground.stage.store, { slot: ground.run.slot })
    expect(rows.map(({ action, by }) => [action, by])).toContainEqual(['run-slot-again', 'the-admin'])
  })

  it('who comes too late is told what is so by now', async () => {
    const post = (what: string, body: object) =>
      ask({
        url,
        method: 'POST',
        path: `/api/jobs/invoice-run/${what}`,
        headers: { ...as('operator'), ...JSON_BODY },
        body: JSON.stringify(body),
      })
    const told = async (what: string, body: object) => {
      const { status, error } = await post(what, body)
      return [status, error?.state]
    }
    expect(await told('resume', {})).toEqual([409, 'not paused'])
    expect(await told('pause', { note: 'x' })).toEqual([200, undefined])
    expect(await told('pause', { note: 'y' })).toEqual([409, 'paused'])
    expect(await told(`slots/${encodeURIComponent(ground.run.slot)}/run`, {})).toEqual([
      409,
      expect.stringContaining('paused by the-operator: x'),
    ])
    const { pause } = (await readJob(ground.stage.store, 'invoice-run')) ?? {}
    const seen = pause?.at ?? 0
    expect(await told('resume', { pausedAt: seen - 1 })).toEqual([409, 'paused anew by the-operator'])
    expect(await told('resume', { pausedAt: seen })).toEqual([200, undefined])
    // No replica is there to end it.
    expect(await told('resume', {})).toEqual([409, 'being resumed'])
    expect(await told('pause', { note: 'z' })).toEqual([409, 'being resumed'])
    await ground.stage.redis.hdel(`cronce:{${ground.stage.service}:job:invoice-run}:job`, 'paused', 'pausedAt')
  })

  it('gives up one dead letter, and not many at once', async () => {
    const discard = (role: keyof typeof TOKENS) => {
      const body = JSON.stringify({
        verb: 'discard',
        selection: { job: 'invoice-run', error: 'no such error' },
        note: 'x',
      })
      return ask({ url, method: 'POST', path: '/api/letter-changes', headers: { ...as(role), ...JSON_BODY }, body })
    }
    const refused = await discard('operator')
    expect([refused.status, refused.error?.code]).toEqual([403, 'CRONCE_NOT_ALLOWED'])
    expect((await discard('admin')).status).toBe(202)
  })

  it('has a cookie that goes over https alone where the page does', async () => {
    const cookie = async (headers: Record<string, string>) => {
      const body = JSON.stringify({ token: TOKENS.operator })
      const post = { url, method: 'POST', path: '/api/session', body }
      const answer = await ask({ ...post, headers: { ...JSON_BODY, 'x-cronce-console': '1', ...headers } })
      return String(answer.headers['set-cookie'])
    }
    expect(await cookie({ 'x-forwarded-proto': 'https' })).toMatch(
      /Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+; Secure$/,
    )
    expect(await cookie({})).not.toContain('Secure')
  })

  it('reads who changed what, page by page', async () => {
    for (const note of ['one', 'two', 'three']) {
      const path = '/api/jobs/settlement/pause'
      const body = JSON.stringify({ note })
      await ask({ url, method: 'POST', path, headers: { ...as('operator'), ...JSON_BODY }, body })
      await ask({
        url,
        method: 'POST',
        path: '/api/jobs/settlement/resume',
        headers: { ...as('admin'), ...JSON_BODY },
        body: '{}',
      })
    }
    const read = async (query: string) => {
      const { json } = await ask({ url, path: `/api/actions?${query}`, headers: as('viewer') })
      return json as { actions: { action: string; note: string }[]; next: string | null }
    }
    const first = await read('job=settlement&limit=1')
    expect([first.actions.length, typeof first.next]).toEqual([1, 'string'])
    const notes = (await read('job=settlement&who=the-operator')).actions.map(({ note }) => note)
    expect(notes[0]).toBe('one')
    expect((await ask({ url, path: '/api/actions?slot=x', headers: as('viewer') })).status).toBe(400)
    expect((await ask({ url, path: '/api/actions' })).status).toBe(401)
  })
})
