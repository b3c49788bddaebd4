import { cron, defineJob } from '@cronce/core'
import { handle, NonRetryableError } from '@cronce/worker'
import { z } from 'zod'
import { type RedisServer, type SpawnedProcess, startRedis } from '../support/index.ts'
import type { StartedRun } from '../support/start-run.ts'
import { openStage, type Stage } from '../support/worker-stage.ts'
import { buildPage, type ConsoleProcess, startConsoleProcess } from './console-process.ts'

export { type ConsoleProcess, TOKENS } from './console-process.ts'

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
      const opened = await startConsoleProcess({ redis, service: stage.service, env })
      consoles.push(opened.process)
      return opened
    },
    async close() {
      await Promise.all(consoles.map((process) => process.kill()))
      await stage.close()
      await redis.stop()
    },
  }
}
