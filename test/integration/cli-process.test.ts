import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cron, defineJob } from '@cronce/core'
import { connect, createStore, registerJob } from '@cronce/store'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RedisServer, startRedis } from '../support/index.ts'
import { cronce, errorOf } from './cli-run.ts'

const SERVICE = 'shop'

/** A folder that belongs to no checkout. */
let folder: string
let server: RedisServer

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cronce-cli-'))
  server = await startRedis()
  const redis = connect(server.url, 'producer')
  const job = defineJob({ name: 'nightly', schedule: cron('0 2 * * *'), onCrash: 'skip' })
  await registerJob(createStore({ redis, service: SERVICE }), job, { by: 'test' })
  redis.disconnect()
})
afterAll(async () => {
  await server.stop()
  await rm(folder, { recursive: true, force: true })
})

const on = (url: string) => ({ env: { REDIS_URL: url, CRONCE_SERVICE: SERVICE }, cwd: folder })

/** How long a person waits; the process's own start is in it. */
const PATIENCE_MS = 15_000

async function timed<T>(work: Promise<T>): Promise<{ answer: T; tookMs: number }> {
  const startedAt = performance.now()
  const answer = await work
  return { answer, tookMs: performance.now() - startedAt }
}

describe('the real command', () => {
  it('prints one JSON object on standard output, nothing else, and ends by itself', async () => {
    const run = await cronce(['jobs', '--json'], on(server.url))
    expect([run.code, run.err]).toEqual([0, ''])
    expect(run.json()).toMatchObject({ jobs: [{ job: 'nightly', deadLetters: 0 }], next: null })
  })

  it('finds a running system by its state file from any folder below, and not once its process is gone', async () => {
    const place = await mkdtemp(join(folder, 'system-'))
    const below = join(place, 'a', 'b')
    await mkdir(below, { recursive: true })
    await mkdir(join(place, '.cronce'))
    const announce = (pid: number) => {
      const state = { redisUrl: server.url, service: SERVICE, pid }
      return writeFile(join(place, '.cronce', 'state.json'), JSON.stringify(state))
    }
    await announce(process.pid)
    expect((await cronce(['jobs', '--json'], { cwd: below })).code).toBe(0)
    await announce(2 ** 30)
    const gone = await cronce(['jobs', '--json'], { cwd: below })
    expect([gone.code, errorOf(gone).code]).toEqual([2, 'CRONCE_REDIS_UNCONFIGURED'])
  })
})

describe('a Redis that does not answer is exit 3, soon, as one JSON object', () => {
  it('where nothing listens', async () => {
    const { answer, tookMs } = await timed(cronce(['runs', '--json'], on('redis://127.0.0.1:1')))
    expect([answer.code, answer.err, errorOf(answer).code]).toEqual([3, '', 'CRONCE_REDIS_UNREACHABLE'])
    expect(tookMs).toBeLessThan(PATIENCE_MS)
  })

  it('where it accepts connections and says nothing', async () => {
    const frozen = await startRedis()
    await frozen.kill('SIGSTOP')
    const { answer, tookMs } = await timed(cronce(['overdue', '--json'], on(frozen.url)))
    await frozen.kill('SIGCONT')
    await frozen.stop()
    expect([answer.code, answer.err, errorOf(answer).code]).toEqual([3, '', 'CRONCE_REDIS_UNREACHABLE'])
    expect(tookMs).toBeLessThan(PATIENCE_MS)
  })

  it('where it asks for a password that the URL has not, which is in no message', async () => {
    const locked = await startRedis()
    const redis = connect(locked.url, 'producer')
    await redis.config('SET', 'requirepass', 'open-sesame')
    redis.disconnect()
    const wrong = locked.url.replace('redis://', 'redis://:guessed@')
    const answer = await cronce(['jobs', '--json'], on(wrong))
    await locked.stop()
    expect([answer.code, errorOf(answer).code]).toEqual([3, 'CRONCE_REDIS_UNREACHABLE'])
    expect(answer.out + answer.err).not.toContain('guessed')
  })

  it('and check still checks the definitions', async () => {
    const run = await cronce(['check', '--json'], { env: { REDIS_URL: 'redis://127.0.0.1:1' } })
    expect([run.code, run.err]).toEqual([3, ''])
    expect(run.json()).toMatchObject({ errors: [], redis: null, error: { code: 'CRONCE_REDIS_UNREACHABLE' } })
  })
})

describe('check', () => {
  const write = async (files: Readonly<Record<string, string>>): Promise<string> => {
    const place = await mkdtemp(join(folder, 'jobs-'))
    const core = new URL('../../packages/core/src/index.ts', import.meta.url).href
    for (const [name, text] of Object.entries(files))
      await writeFile(join(place, name), text.replace('@cronce/core', core))
    return join(place, 'jobs.mjs')
  }
  const bad = (name: string, rest: string) =>
    `import { cron, defineJob } from '@cronce/core'\nexport const ${name} = defineJob({ name: '${name}', ${rest} })\n`

  it('is content with the jobs of the checkout, without Redis', async () => {
    const run = await cronce(['check', '--json'], { cwd: folder })
    expect([run.code, run.err]).toEqual([0, ''])
    expect(run.json()).toMatchObject({ errors: [], redis: null, tzdata: process.versions.tz })
    const text = await cronce(['check'], { cwd: folder })
    expect(text.out).toMatch(/^ package-report +0 2 \* \* \* +Europe\/Berlin +complete +late 6h +overlap skip$/m)
    expect(text.out).toMatch(/^ \d+ jobs, 0 errors, \d+ notes {3}tzdata \w+$/m)
    for (const line of text.out.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
  })

  it('reports every fault of every bad definition at once, exit 1', async () => {
    const module = await write({
      'jobs.mjs': `import { one } from './one.mjs'\nimport { two } from './two.mjs'\nexport const jobs = [one, two]\n`,
      'one.mjs': bad('one', "schedule: cron('0 2 * * *'), onCrash: 'maybe', timeout: '2 days'"),
      'two.mjs': bad('two', "schedule: cron('0 0 30 2 *'), onCrash: 'skip'"),
    })
    const run = await cronce(['check', '--jobs', module, '--json'], { cwd: folder })
    expect([run.code, run.err]).toEqual([1, ''])
    const { errors } = run.json() as { errors: { path: string; message: string }[] }
    expect(errors.map(({ path }) => path)).toEqual(expect.arrayContaining(['one: onCrash', 'one: timeout']))
    expect(errors.some(({ message }) => message.includes('0 0 30 2 *'))).toBe(true)
  })

  it('refuses two jobs of one name', async () => {
    const twice = "schedule: cron('0 2 * * *'), onCrash: 'skip' })"
    const text = `import { cron, defineJob } from '@cronce/core'\nexport const jobs = [defineJob({ name: 'a', ${twice}, defineJob({ name: 'a', ${twice}]\n`
    const run = await cronce(['check', '--jobs', await write({ 'jobs.mjs': text }), '--json'], { cwd: folder })
    expect([run.code, run.json()]).toEqual([
      1,
      expect.objectContaining({ errors: [expect.objectContaining({ path: 'a' })] }),
    ])
  })

  it.each([
    ['throw new Error("no database")', 'no database'],
    ['export const nothing = 1', 'exports neither'],
    ['export const = 1', 'Unexpected'],
  ])('says why a module is no list of jobs: %s', async (text, reason) => {
    const run = await cronce(['check', '--jobs', await write({ 'jobs.mjs': text }), '--json'], { cwd: folder })
    expect([run.code, errorOf(run)]).toEqual([
      2,
      { code: 'CRONCE_JOBS_MODULE', message: expect.stringContaining(reason) },
    ])
  })
})
