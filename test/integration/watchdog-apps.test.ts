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

for (const { app, env } of APPS) {
  describeNeeding(['redis-server'], `the process of the ${app}`, () => {
    let redis: RedisServer
    let running: SpawnedProcess | undefined

    beforeAll(async () => {
      redis = await startRedis()
    })
    afterEach(async () => {
      await running?.kill()
      running = undefined
    })
    afterAll(() => redis.stop())

    async function start(extra: Record<string, string> = {}): Promise<SpawnedProcess> {
      running = await spawnProcess({ file: `apps/${app}/src/main.ts`, env: { REDIS_URL: redis.url, ...env, ...extra } })
      return running
    }

    it('says at /healthz/schedules whether anything is overdue, and that it cannot tell while Redis is away', async () => {
      const process = await start()
      const line = await process.waitForLine(({ json }) => json?.['msg'] === 'listening', { timeoutMs: 20_000 })
      const ask = async () => {
        const response = await fetch(new URL('/healthz/schedules', String(line.json?.['url'])))
        return { code: response.status, body: await response.json() }
      }
      await waitUntil(async () => (await ask()).code === 200, { message: 'an answer', timeoutMs: 20_000 })
      expect(await ask()).toEqual({ code: 200, body: { status: 'ok', overdue: [] } })
      await redis.kill()
      expect(await ask()).toMatchObject({ code: 503, body: { status: 'unknown' } })
      await redis.restart()
    })

    it('refuses to post alarms that it cannot sign', async () => {
      const process = await start({
        CRONCE_ALARM_URL: 'https://ops.example.com/a-secret-path',
        CRONCE_ALARM_SECRET: 'short',
      })
      expect(await process.exited).toMatchObject({ code: 2 })
      const text = process.lines.map((line) => line.text).join('\n')
      expect(text).toContain('CRONCE_ALARM_SECRET: expected at least 16 characters')
      expect(text).not.toContain('a-secret-path')
    })
  })
}
