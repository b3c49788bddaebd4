import { EventEmitter } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Cluster, Redis } from 'ioredis'
import { afterAll, afterEach, expect, it } from 'vitest'
import {
  describeNeeding,
  monitorEvents,
  type RedisServer,
  spawnProcess,
  startRedis,
  startRedisCluster,
  waitUntil,
} from '../support/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'cronce-support-'))
writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
afterAll(() => rmSync(folder, { recursive: true }))

function script(text: string): string {
  const file = join(folder, `script-${text.length}.ts`)
  writeFileSync(file, text)
  return file
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

describeNeeding(['redis-server'], 'a Redis of the test', () => {
  const servers: RedisServer[] = []
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.stop()
  })

  async function start(...args: Parameters<typeof startRedis>): Promise<RedisServer> {
    const server = await startRedis(...args)
    servers.push(server)
    return server
  }

  it('keeps what it acknowledged over a kill when it writes an append-only file', async () => {
    const server = await start({ appendonly: 'always' })
    const client = new Redis(server.url)
    client.on('error', () => {})
    await client.set('kept', '1')
    await server.kill()
    await server.restart()
    expect(await client.get('kept')).toBe('1')
    client.disconnect()
  })

  it('starts empty after a restart without one, on the same port', async () => {
    const server = await start()
    const client = new Redis(server.url)
    client.on('error', () => {})
    await client.set('gone', '1')
    await server.restart()
    expect(await client.get('gone')).toBeNull()
    client.disconnect()
  })

  it('runs as a cluster whose three masters serve all slots', async () => {
    const cluster = await startRedisCluster()
    const client = new Cluster([...cluster.nodes])
    await Promise.all(Array.from({ length: 50 }, (_, index) => client.set(`key-${index}`, index)))
    expect(await client.get('key-49')).toBe('49')
    client.disconnect()
    await cluster.stop()
  })

  it('dies with the process that started it, and takes its folder along', async () => {
    const support = new URL('../support/index.ts', import.meta.url).href
    const owner = await spawnProcess({
      file: script(`import { startRedis } from '${support}'
        console.log(JSON.stringify({ url: (await startRedis()).url }))
        setInterval(() => {}, 1000)`),
    })
    const { json } = await owner.waitForLine('"url"', { timeoutMs: 20_000 })
    const client = new Redis(String(json?.['url']))
    const pid = Number(/process_id:(\d+)/.exec(await client.info('server'))?.[1])
    const [, dir] = (await client.config('GET', 'dir')) as [string, string]
    client.disconnect()
    expect([isAlive(pid), existsSync(dir)]).toEqual([true, true])
    await owner.kill('SIGKILL')
    await waitUntil(() => !isAlive(pid) && !existsSync(dir), { message: 'redis-server and its folder gone' })
  })
})

describeNeeding([], 'a process of the test', () => {
  it('is ready at its line, and its JSON lines are objects', async () => {
    const child = await spawnProcess({
      file: script(
        `const level: number = 30; console.log(JSON.stringify({ level, msg: 'ready' })); setInterval(() => {}, 1000)`,
      ),
      ready: (line) => line.json?.['msg'] === 'ready',
    })
    expect(child.lines[0]?.json).toEqual({ level: 30, msg: 'ready' })
    expect(await child.kill('SIGTERM')).toEqual({ code: null, signal: 'SIGTERM' })
  })

  it('fails with its last lines when it ends before it is ready', async () => {
    const file = script(`console.error('no Redis there'); process.exit(3)`)
    await expect(spawnProcess({ file, ready: 'ready' })).rejects.toThrow(/ended \(3\)[^]*no Redis there/)
  })
})

describeNeeding([], 'waiting', () => {
  it('names what it waited for, and outlives no look that hangs', async () => {
    const hanging = waitUntil(() => new Promise<boolean>(() => {}), { message: 'an answer', timeoutMs: 50 })
    await expect(hanging).rejects.toThrow('waited 50 ms for: an answer')
  })

  it('misses no event between act and wait, and gives each once', async () => {
    const emitter = new EventEmitter()
    const seen = monitorEvents<{ claimed: { slot: string }; lost: object }>(emitter, ['claimed', 'lost'])
    emitter.emit('claimed', { slot: 'a' })
    emitter.emit('claimed', { slot: 'b' })
    expect(await seen.awaitNext('claimed')).toEqual({ slot: 'a' })
    expect(await seen.awaitNext('claimed', { where: ({ slot }) => slot === 'b' })).toEqual({ slot: 'b' })
    await expect(seen.awaitNext('claimed', { timeoutMs: 30 })).rejects.toThrow('event "claimed"')
    expect(seen.count('claimed')).toBe(2)
    seen.assertNone('lost')
    expect(() => seen.assertNone('claimed')).toThrow('expected no "claimed", got 2')
  })
})
