import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterAll, describe, expect, it } from 'vitest'
import { describeNeeding, ROOT, type SpawnedProcess, spawnProcess, waitUntil } from '../support/index.ts'

// A checkout with nothing in it but the bootstrap: no packages, no cache.
const folder = mkdtempSync(join(tmpdir(), 'cronce-bootstrap-'))
cpSync(join(ROOT, 'scripts'), join(folder, 'scripts'), { recursive: true })
mkdirSync(join(folder, 'node_modules'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const BOOTSTRAP = join(folder, 'scripts/bootstrap')

/** Runs a piece of code of the bootstrap as a process of its own. */
async function runCode(name: string, code: string, env: Readonly<Record<string, string | undefined>> = {}) {
  const file = join(folder, `${name}.mjs`)
  writeFileSync(file, code)
  return await spawnProcess({ file, env, cwd: folder })
}

const textOf = ({ lines }: SpawnedProcess) => lines.map(({ text }) => text).join('\n')

describe('the bootstrap', () => {
  it('refuses an old Node with a sentence', async () => {
    const old = 'data:text/javascript,Object.defineProperty(process,"versions",{value:{node:"18.20.4"}})'
    const child = await spawnProcess({ file: 'scripts/run.mjs', nodeArgs: [`--import=${old}`], args: ['test'] })
    expect(await child.exited).toEqual({ code: 2, signal: null })
    expect(textOf(child)).toBe('Cronce needs Node 20.19 or newer, this is 18.20.4: https://nodejs.org/')
  })

  it('names its commands when asked for another', async () => {
    const child = await spawnProcess({ file: 'scripts/run.mjs', args: ['dance'] })
    expect(await child.exited).toEqual({ code: 2, signal: null })
    expect(textOf(child)).toBe('expected one of start, test, check, bench, simulate, cronce, screenshots, got dance')
  })

  it('names the benchmarks when asked for none or another, without setting anything up', async () => {
    const child = await spawnProcess({ file: 'scripts/run.mjs', args: ['bench', 'dance'] })
    expect(await child.exited).toEqual({ code: 2, signal: null })
    expect(textOf(child)).toMatch(/^there is no benchmark "dance"\nusage: npm run bench -- <name>[^]*\nnames: \w+/)
  })
})

describe('finding Redis', () => {
  const open = `import { openRedis } from '${BOOTSTRAP}/redis.mjs'
    try { const redis = await openRedis(); console.log(redis.url); await redis.stop() }
    catch (error) { console.error(error.message); process.exit(error.exitCode) }`

  it('takes the one that was given', async () => {
    const child = await runCode('given', open, { REDIS_URL: 'redis://elsewhere:1' })
    await child.exited
    expect(textOf(child)).toBe('redis://elsewhere:1')
  })

  it('says what to install on every system when there is no way, and exits with 2', async () => {
    const child = await runCode('no-way', open, { PATH: '/nowhere', REDIS_URL: undefined })
    expect(await child.exited).toEqual({ code: 2, signal: null })
    expect(textOf(child)).toMatch(/macOS[^]*Debian[^]*Fedora[^]*Alpine[^]*Windows[^]*REDIS_URL=/)
  })
})

describeNeeding(['redis-server'], 'a Redis of the bootstrap', () => {
  const hold = `import { openRedis } from '${BOOTSTRAP}/redis.mjs'
    console.log((await openRedis()).url)
    setInterval(() => {}, 1000)`

  it('is one of its own, tuned for delayed jobs, and gone when its owner was killed', async () => {
    const owner = await runCode('hold', hold)
    const { text: url } = await owner.waitForLine('redis://127.0.0.1:')
    expect(new URL(url).port).not.toBe('6379')
    const client = new Redis(url, { retryStrategy: () => null })
    client.on('error', () => {})
    const settings = await Promise.all(
      ['hz', 'maxmemory-policy', 'appendonly', 'dir'].map((name) => client.config('GET', name)),
    )
    const [hz, policy, appendonly, dir = ''] = settings.map(([, value]) => String(value))
    expect([hz, policy, appendonly, existsSync(dir)]).toEqual(['100', 'noeviction', 'no', true])
    await owner.kill('SIGKILL')
    await waitUntil(() => client.status === 'end' && !existsSync(dir), { message: 'Redis and its folder gone' })
  })
})

describe('a command in the foreground', () => {
  const run = (child: string) => `import { runInForeground } from '${BOOTSTRAP}/foreground.mjs'
    process.exit(await runInForeground(['--input-type=module', '--eval', ${JSON.stringify(child)}]))`
  const stubborn = `for (const name of ['SIGTERM', 'SIGINT']) process.on(name, () => console.log('got', name))
    console.log('child', process.pid)
    setInterval(() => {}, 1000)`

  it('answers with its exit code', async () => {
    const child = await runCode('code', run('process.exit(7)'))
    expect(await child.exited).toEqual({ code: 7, signal: null })
  })

  it('gets the first signal and is waited for', async () => {
    const polite = `process.on('SIGTERM', () => setTimeout(() => process.exit(5), 100))\nconsole.log('child')\nsetInterval(() => {}, 1000)`
    const child = await runCode('polite', run(polite))
    await child.waitForLine('child')
    expect(await child.kill('SIGTERM')).toEqual({ code: 5, signal: null })
  })

  it('is killed by the second signal', async () => {
    const child = await runCode('stubborn', run(stubborn))
    await child.waitForLine('child')
    child.signal('SIGINT')
    await child.waitForLine('got SIGINT')
    await waitUntil(() => (child.signal('SIGTERM'), child.lines.some(({ text }) => text === 'got SIGTERM')), {
      message: 'a second signal, told from a repeat of the first',
      everyMs: 200,
    })
    expect(await child.exited).toEqual({ code: 137, signal: null })
  })

  it('is ended when the bootstrap was killed', async () => {
    const child = await runCode('orphan', run(`console.log('child', process.pid)\nsetInterval(() => {}, 1000)`))
    const pid = Number((await child.waitForLine('child')).text.split(' ')[1])
    await child.kill('SIGKILL')
    await waitUntil(() => isGone(pid), { message: 'the end of the command' })
  })
})

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return false
  } catch {
    return true
  }
}
