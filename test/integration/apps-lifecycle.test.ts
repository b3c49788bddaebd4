import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import {
  describeNeeding,
  type RedisServer,
  type SpawnedProcess,
  spawnProcess,
  startRedis,
  waitUntil,
} from '../support/index.ts'

const APPS = [
  { app: 'service', env: {} },
  { app: 'worker', env: { CRONCE_RECEIVER_URL: 'http://127.0.0.1:9' } },
] as const

/** How long an order that is quick may take on a busy machine. */
const SOON_MS = 5_000

for (const { app, env } of APPS) {
  describeNeeding(['redis-server'], `the process of the ${app}`, () => {
    let redis: RedisServer
    let running: SpawnedProcess | undefined

    beforeAll(async () => {
      redis = await startRedis()
    })
    afterEach(async () => {
      await redis.kill('SIGCONT')
      await running?.kill()
      running = undefined
    })
    afterAll(() => redis.stop())

    async function start(extra: Record<string, string> = {}): Promise<{ process: SpawnedProcess; url: string }> {
      const process = await spawnProcess({
        file: `apps/${app}/src/main.ts`,
        env: { REDIS_URL: redis.url, CRONCE_SWEEP_EVERY: '500ms', ...env, ...extra },
      })
      running = process
      const line = await process.waitForLine(({ json }) => json?.['msg'] === 'listening', { timeoutMs: 20_000 })
      return { process, url: String(line.json?.['url']) }
    }

    const status = async (url: string, path: string) => (await fetch(new URL(path, url))).status
    const waitForReadiness = (url: string, wanted: number) =>
      waitUntil(async () => (await status(url, '/readyz')) === wanted, {
        message: `/readyz answering ${wanted}`,
        timeoutMs: 20_000,
      })

    it('ends with code 0 at SIGTERM, having said goodbye', async () => {
      const { process, url } = await start()
      await waitForReadiness(url, 200)
      const askedAt = performance.now()
      expect(await process.kill('SIGTERM')).toEqual({ code: 0, signal: null })
      expect(performance.now() - askedAt).toBeLessThan(SOON_MS)
      const events = process.lines.map(({ json }) => json?.['event'])
      expect(events).toContain(app === 'service' ? 'trigger.stopped' : 'worker.stopped')
      expect(process.lines.filter(({ stream }) => stream === 'err')).toEqual([])
    })

    it('ends with code 1 at its deadline where the stop hangs', async () => {
      const { process, url } = await start({ CRONCE_SHUTDOWN_TIMEOUT: '800ms' })
      await waitForReadiness(url, 200)
      await redis.kill('SIGSTOP')
      expect(await process.kill('SIGTERM')).toEqual({ code: 1, signal: null })
      expect(process.lines.some(({ text }) => text.includes('stopped by force: deadline'))).toBe(true)
    })

    it('ends at once with code 1 at a second signal', async () => {
      const { process, url } = await start({ CRONCE_SHUTDOWN_TIMEOUT: '1m' })
      await waitForReadiness(url, 200)
      await redis.kill('SIGSTOP')
      process.signal('SIGTERM')
      await process.waitForLine('"msg":"stopping"')
      const askedAt = performance.now()
      expect(await process.kill('SIGINT')).toEqual({ code: 1, signal: null })
      expect(performance.now() - askedAt).toBeLessThan(1_000)
      expect(process.lines.some(({ text }) => text.includes('stopped by force: second signal'))).toBe(true)
    })

    it('lives without Redis and is not ready, before it comes, while it is away, and until it is back', async () => {
      await redis.kill()
      const { process, url } = await start()
      await process.waitForLine('Redis is out of reach; trying again')
      expect([await status(url, '/healthz'), await status(url, '/readyz')]).toEqual([200, 503])
      await redis.restart()
      await waitForReadiness(url, 200)
      await redis.kill()
      await waitForReadiness(url, 503)
      expect(await status(url, '/healthz')).toBe(200)
      await redis.restart()
      await waitForReadiness(url, 200)
      expect(await process.kill('SIGTERM')).toEqual({ code: 0, signal: null })
    })

    it('stops while it still waits for Redis', async () => {
      await redis.kill()
      const { process } = await start()
      await process.waitForLine('Redis is out of reach; trying again')
      expect(await process.kill('SIGTERM')).toEqual({ code: 0, signal: null })
      await redis.restart()
    })

    it('refuses a faulty configuration with code 2, naming every fault', async () => {
      const faulty = { REDIS_URL: 'http://h', PORT: 'x', CRONCE_SWEEP_EVERY: 'soon', CRONCE_SERVIEC: 'a' }
      running = await spawnProcess({ file: `apps/${app}/src/main.ts`, env: { ...env, ...faulty } })
      expect(await running.exited).toEqual({ code: 2, signal: null })
      const text = running.lines.map((line) => line.text).join('\n')
      for (const name of ['REDIS_URL', 'PORT', 'CRONCE_SWEEP_EVERY']) expect(text).toContain(`  ${name}: expected`)
      expect(text).toContain('  CRONCE_SERVIEC: unknown variable, did you mean CRONCE_SERVICE?')
    })
  })
}
