import { join } from 'node:path'
import { cron, defineJob } from '@cronce/core'
import { handle, NonRetryableError } from '@cronce/worker'
import { z } from 'zod'
import { type RedisServer, ROOT, type SpawnedProcess, spawnProcess, startRedis } from '../support/index.ts'
import type { StartedRun } from '../support/start-run.ts'
import { openStage, type Stage } from '../support/worker-stage.ts'

export const TOKENS = {
  viewer: 'viewer-token-of-vera-0123456789',
  operator: 'operator-token-of-olga-0123456789',
  admin: 'admin-token-of-ada-0123456789',
} as const

/** Entity keys that die: one is markup, one wants out of its folder, one has every sign of an address. */
export const HOSTILE = ['<img src=x onerror=alert(1)>', '../../etc/passwd', 'a:b?c#d/e%2F日 次', 'plain'] as const

/** Markup in a payload, where it would do something if it were taken for it. */
const PAYLOAD_MARKUP = '<script>document.title="taken"</script>'

const invoices = defineJob({
  name: 'invoice-run',
  schedule: cron('0 2 * * *', { zone: 'Europe/Berlin' }),
  onCrash: 'complete',
  entity: { schema: z.object({ id: z.string(), note: z.string() }), key: ({ id }) => id },
  retry: { attempts: 1 },
  queue: 'default',
})

const settlement = defineJob({
  name: 'settlement',
  schedule: cron('0 3 * * *', { zone: 'America/New_York' }),
  onCrash: 'skip',
  queue: 'finance',
  tolerance: { start: '1s' },
})

export interface ConsoleProcess {
  readonly url: string
  /** Works once. */
  readonly signInUrl: string
  readonly process: SpawnedProcess
}

/** A service with something to see: a run with dead letters, and a job that nobody serves. */
export interface ConsoleGround {
  readonly redis: RedisServer
  readonly stage: Stage
  readonly run: StartedRun
  /** From now on the entities that died succeed. */
  mend(): void
  startConsole(env?: Readonly<Record<string, string>>): Promise<ConsoleProcess>
  close(): Promise<void>
}

export async function openGround(): Promise<ConsoleGround> {
  await buildPage()
  const redis = await startRedis()
  const stage = openStage(redis)
  const consoles: SpawnedProcess[] = []
  let isBroken = true
  const handler = handle(invoices, {
    entities: () => ({
      entities: ['good', ...HOSTILE].map((id) => ({ id, note: PAYLOAD_MARKUP })),
      next: null,
    }),
    each: ({ id }) => {
      if (id !== 'good' && isBroken) throw new NonRetryableError(`HTTP 402 <b>for</b> ${id}`)
    },
  })
  await stage.work([handler])
  const run = await stage.start(invoices)
  await stage.ended(run)
  await stage.start(settlement)
  return {
    redis,
    stage,
    run,
    mend() {
      isBroken = false
    },
    async startConsole(env = {}) {
      const process = await spawnProcess({
        file: 'apps/console/src/main.ts',
        env: {
          REDIS_URL: redis.url,
          CRONCE_SERVICE: stage.service,
          CRONCE_CONSOLE_TOKENS: Object.entries(TOKENS)
            .map(([role, token]) => `the-${role}:${role}:${token}`)
            .join(' '),
          ...env,
        },
      })
      consoles.push(process)
      const { json } = await process.waitForLine((line) => line.json?.['msg'] === 'listening', { timeoutMs: 30_000 })
      return { url: String(json?.['url']), signInUrl: String(json?.['signInUrl']), process }
    },
    async close() {
      await Promise.all(consoles.map((process) => process.kill()))
      await stage.close()
      await redis.stop()
    },
  }
}

/** The page that is tested is that of the sources, not what was last built. */
async function buildPage(): Promise<void> {
  const cwd = join(ROOT, 'apps/console')
  // As it is shipped: the tests' own NODE_ENV would make it another one.
  const env = { NODE_ENV: 'production' }
  const build = await spawnProcess({ file: join(cwd, 'node_modules/vite/bin/vite.js'), args: ['build'], cwd, env })
  const { code } = await build.exited
  if (code !== 0) throw new Error(`the page was not built: ${build.lines.map(({ text }) => text).join('\n')}`)
}
