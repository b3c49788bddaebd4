import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ConsoleGround, type ConsoleProcess, openGround, TOKENS } from '../browser/console-ground.ts'
import { waitUntil } from '../support/index.ts'
import { ask } from './console-request.ts'

const MB = 1024 * 1024
const AUTH = { authorization: `Bearer ${TOKENS.operator}` }
const JSON_BODY = { 'content-type': 'application/json' }
const PAUSE = '/api/jobs/settlement/pause'

/** What the process may take more than after its first requests, over everything that is done to it here. */
const MOST_GROWTH = 150 * MB

let ground: ConsoleGround
let opened: ConsoleProcess
let url: string
let atFirst: number

const memory = () =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${opened.process.pid}/status`, 'utf8'))?.[1]) * 1024
const overview = () => ask({ url, path: '/api/schedules', headers: AUTH })

beforeAll(async () => {
  ground = await openGround()
  opened = await ground.startConsole()
  ;({ url } = opened)
  for (let number = 0; number < 50; number++) expect((await overview()).status).toBe(200)
  atFirst = memory()
})
afterAll(() => ground.close())

/** A connection on which anything is said; `said` is all that came back once it has closed. */
function raw(...texts: readonly (string | Buffer)[]): { socket: Socket; said: Promise<string> } {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  let text = ''
  socket.on('data', (part) => (text += part.toString()))
  socket.on('error', () => undefined)
  for (const each of texts) socket.write(each)
  return { socket, said: new Promise((resolve) => socket.on('close', () => resolve(text))) }
}

const HEAD = `POST ${PAUSE} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${TOKENS.operator}\r\ncontent-type: application/json\r\n`

/** Status and error code of the one answer on a connection. */
async function refusal(said: Promise<string>): Promise<[number, string | undefined]> {
  const text = await said
  const [head = '', body = ''] = text.split('\r\n\r\n')
  const code = body === '' ? undefined : (JSON.parse(body) as { error: { code: string } }).error.code
  return [Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]), code]
}

describe('a client that is too slow', () => {
  it('with its headers or its body is told so and cut off, however many there are, and others are answered meanwhile', async () => {
    const slow = Array.from({ length: 200 }, (_, number) =>
      number % 2 === 0 ? raw(HEAD.slice(0, -10)) : raw(`${HEAD}content-length: 1000\r\n\r\n{"note":`),
    )
    // A byte now and then is no progress.
    const drip = setInterval(() => slow.forEach(({ socket }) => socket.writable && socket.write('x')), 500)
    const started = performance.now()
    let answered = 0
    const all = Promise.all(slow.map(({ said }) => refusal(said)))
    const waiting = { isOpen: true }
    void all.finally(() => (waiting.isOpen = false))
    while (waiting.isOpen) {
      expect((await overview()).status).toBe(200)
      answered += 1
    }
    clearInterval(drip)
    const answers = await all
    expect(new Set(answers.map(([status]) => status))).toEqual(new Set([408]))
    expect(new Set(answers.map(([, code]) => code))).toEqual(new Set(['CRONCE_CONSOLE_REQUEST']))
    expect(performance.now() - started).toBeLessThan(20_000)
    expect(answered).toBeGreaterThan(20)
  })
})

describe('what is no request', () => {
  it.each<[string, string, number]>([
    ['another protocol', '\u0016\u0003\u0001\u0002\u0000\u0001', 400],
    ['text', 'hello\r\n\r\n', 400],
    ['an unknown method', `CHANGE ${PAUSE} HTTP/1.1\r\nhost: localhost\r\n\r\n`, 400],
    ['two lengths', `${HEAD}content-length: 2\r\ncontent-length: 3\r\n\r\n{}`, 400],
    ['a length and chunks', `${HEAD}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`, 400],
    ['a length below zero', `${HEAD}content-length: -1\r\n\r\n`, 400],
    ['a chunk of no length', `${HEAD}transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n`, 400],
    ['a header without a name', `${HEAD}: x\r\n\r\n`, 400],
    ['a header over two lines', `${HEAD}x: y\r\n z\r\ncontent-length: 2\r\n\r\n{}`, 400],
    ['large headers', `${HEAD}x: ${'y'.repeat(20_000)}\r\n\r\n`, 431],
    ['many headers', `${HEAD}${Array.from({ length: 3_000 }, (_, number) => `x${number}: y\r\n`).join('')}\r\n`, 431],
    ['a long path', `GET /${'x'.repeat(30_000)} HTTP/1.1\r\nhost: localhost\r\n\r\n`, 431],
  ])('is refused with an error as any other: %s', async (_, text, status) => {
    const { socket, said } = raw(text)
    const answer = await refusal(said)
    socket.destroy()
    expect(answer).toEqual([status, 'CRONCE_CONSOLE_REQUEST'])
  })

  it.each(['/%', '/api/runs/%zz', '/api/dead/%c0%ae%c0%ae', '/api/runs/%e0%80%af', `/api/dead/${'%41'.repeat(5_000)}`])(
    'nor is a path that cannot be read: %s',
    async (path) => {
      const { status, error } = await ask({ url, path, headers: AUTH })
      expect([[400, 404, 414].includes(status), typeof error?.message]).toEqual([true, 'string'])
    },
  )
})

describe('a body', () => {
  it.each<[string, string, number]>([
    ['a form', 'application/x-www-form-urlencoded', 415],
    ['a form of files', 'multipart/form-data; boundary=x', 415],
    ['plain text', 'text/plain', 415],
    ['XML', 'application/xml', 415],
    ['almost JSON', 'application/json-patch', 415],
    ['two types', 'application/json, text/plain', 415],
    ['no type at all', '', 415],
  ])('of another type is refused: %s', async (_, type, expected) => {
    const headers = { ...AUTH, ...(type === '' ? {} : { 'content-type': type }) }
    const { status, error } = await ask({ url, method: 'POST', path: PAUSE, headers, body: '{"note":"x"}' })
    expect([status, error?.code]).toEqual([expected, 'CRONCE_CONSOLE_REQUEST'])
  })

  it.each<[string, string | Buffer, number]>([
    ['nothing', '', 400],
    ['half of it', '{"note":"x"', 400],
    ['a list', '[1]', 400],
    ['a number', '1', 400],
    ['null', 'null', 400],
    ['lists in lists', '['.repeat(8_000) + ']'.repeat(8_000), 400],
    ['a prototype', '{"__proto__":{"note":"x"},"note":"y"}', 400],
    ['a constructor', '{"constructor":{"prototype":{"note":"x"}},"note":"y"}', 400],
    ['compressed JSON', Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0]), 400],
    ['no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]), 400],
    ['a note that is none', '{"note":{"$ne":null}}', 400],
    ['a note of blanks', '{"note":"\\u0000 \\t"}', 200],
  ])('of another form is refused, or is plain text: %s', async (_, body, expected) => {
    const { status, error } = await ask({ url, method: 'POST', path: PAUSE, headers: { ...AUTH, ...JSON_BODY }, body })
    expect([status, typeof error?.message]).toEqual([expected, expected === 200 ? 'undefined' : 'string'])
    if (expected === 200) {
      const resume = {
        url,
        method: 'POST',
        path: '/api/jobs/settlement/resume',
        headers: { ...AUTH, ...JSON_BODY },
        body: '{}',
      }
      expect((await ask(resume)).status).toBe(200)
    }
  })

  it('of 5 MB is refused unread, fifty at once, with a length and without', async () => {
    const large = Buffer.alloc(5 * MB, 'x')
    const send = (number: number) =>
      new Promise<number | undefined>((resolve) => {
        const { hostname, port } = new URL(url)
        const headers = { ...AUTH, ...JSON_BODY, ...(number % 2 === 0 ? { 'content-length': large.length } : {}) }
        const sent = request({ hostname, port, method: 'POST', path: PAUSE, agent: false, headers }, (answer) => {
          answer.resume()
          resolve(answer.statusCode)
        })
        // Cut off in the middle of what nobody reads.
        sent.on('error', () => resolve(undefined))
        sent.end(large)
      })
    const statuses = await Promise.all(Array.from({ length: 50 }, (_, number) => send(number)))
    expect(statuses.filter((status) => status !== undefined && status !== 413)).toEqual([])
    expect(statuses).toContain(413)
  })
})

describe('hostile text', () => {
  const TEXTS = [
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    '../../../../etc/passwd',
    '..\\..\\windows',
    '\u202egnp.exe',
    'a\u0000b',
    '\ud83d\udca9'.repeat(100),
    '{{7*7}}${7*7}',
    '*',
    'cronce:{x}:jobs',
    '__proto__',
    "'; FLUSHALL; --",
    '\r\nFLUSHALL\r\n',
    'x'.repeat(3_000),
  ]

  it.each(TEXTS)('in ids and queries finds nothing, breaks nothing, and comes back as JSON alone: %j', async (text) => {
    const id = encodeURIComponent(text)
    const before = JSON.stringify((await overview()).json).length
    for (const [method, path] of [
      ['GET', `/api/runs/${id}`],
      ['GET', `/api/dead/${id}`],
      ['GET', `/api/runs?job=${id}`],
      ['GET', `/api/runs?cursor=${id}`],
      ['GET', `/api/dead?slot=${id}`],
      ['GET', `/api/actions?slot=${id}`],
      ['GET', `/api/jobs/${id}`],
      ['POST', `/api/jobs/${id}/run`],
      ['POST', `/api/jobs/${id}/resume`],
      ['POST', `/api/jobs/settlement/slots/${id}/run`],
      ['POST', `/api/dead/${id}/redrive`],
      ['POST', `/api/dead/${id}/reveal`],
    ] as const) {
      const body = method === 'POST' ? { body: '{}' } : {}
      const answer = await ask({ url, method, path, headers: { ...AUTH, ...JSON_BODY }, ...body })
      expect([400, 404], `${method} ${path}`).toContain(answer.status)
      expect(answer.headers['content-type']).toMatch(/^application\/json/)
      expect(answer.headers['x-content-type-options']).toBe('nosniff')
      expect(answer.error?.message).toBeTruthy()
    }
    expect(Math.abs(JSON.stringify((await overview()).json).length - before)).toBeLessThan(50)
  })

  it('in notes is kept as text, and forges no line of the journal', async () => {
    const note = '<b>x</b>\r\n{"by":"the-admin"}'
    const post = (what: string, body: object) =>
      ask({
        url,
        method: 'POST',
        path: `/api/jobs/invoice-run/${what}`,
        headers: { ...AUTH, ...JSON_BODY },
        body: JSON.stringify(body),
      })
    expect((await post('pause', { note })).status).toBe(200)
    expect((await post('resume', {})).status).toBe(200)
    const { json } = await ask({ url, path: '/api/actions?job=invoice-run&limit=2', headers: AUTH })
    expect(json).toMatchObject({ actions: [{ action: 'resume' }, { action: 'pause', by: 'the-operator', note }] })
  })
})

describe('a thousand clients', () => {
  it('at once are all answered', async () => {
    const agent = new Agent({ keepAlive: false })
    const { hostname, port } = new URL(url)
    const read = (path: string) =>
      new Promise<number>((resolve, reject) => {
        const sent = request({ hostname, port, path, agent, headers: AUTH }, (answer) => {
          answer.resume()
          answer.on('end', () => resolve(answer.statusCode ?? 0))
        })
        sent.on('error', reject)
        sent.end()
      })
    const paths = ['/api/runs?limit=5', '/api/session', '/', '/api/dead?limit=5', '/healthz']
    const statuses = await Promise.all(
      Array.from({ length: 1_000 }, (_, number) => read(paths[number % paths.length] ?? '/')),
    )
    expect(statuses.filter((status) => status !== 200)).toEqual([])
  })

  it('that go away in the middle leave nothing behind', async () => {
    const { hostname, port } = new URL(url)
    const gone = Array.from({ length: 1_000 }, (_, number) => {
      const socket = connect(Number(port), hostname)
      socket.on('error', () => undefined)
      socket.write(
        number % 2 === 0
          ? HEAD
          : `GET /api/schedules HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${TOKENS.viewer}\r\n\r\n`,
      )
      return new Promise((resolve) => {
        socket.on('close', resolve)
        socket.on('connect', () => setImmediate(() => socket.resetAndDestroy()))
      })
    })
    await Promise.all(gone)
    const sockets = () =>
      readFileSync(`/proc/${opened.process.pid}/net/tcp`, 'utf8')
        .split('\n')
        .filter(
          (line) => line.includes(`:${Number(port).toString(16).toUpperCase().padStart(4, '0')} `) && / 01 /.test(line),
        ).length
    await waitUntil(async () => (await overview()).status === 200, { message: 'an answer' })
    await waitUntil(() => sockets() < 10, {
      message: () => `${sockets()} connections are still open`,
      timeoutMs: 20_000,
    })
  })
})

describe('after all of it', () => {
  it('the console answers, has grown by no more than its bound, and has nothing to report', async () => {
    expect((await overview()).status).toBe(200)
    expect((await ask({ url, path: '/readyz' })).status).toBe(200)
    expect(memory() - atFirst).toBeLessThan(MOST_GROWTH)
    const told = opened.process.lines.filter(({ json }) => Number(json?.['level']) >= 50)
    expect(told.map(({ text }) => text)).toEqual([])
    expect(await opened.process.kill('SIGTERM')).toEqual({ code: 0, signal: null })
  })
})
