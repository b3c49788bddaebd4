import { randomUUID } from 'node:crypto'
import { type CronOptions, cron, defineJob, every, type JobDefinition, slotIdOf, systemClock } from '@cronce/core'
import { backfill, openAccess, pauseJob, runNow, type ServiceAccess } from '@cronce/operations'
import { connect, queuePrefix, readSlot } from '@cronce/store'
import { createTrigger, type Trigger } from '@cronce/trigger'
import { createWorker, type Handler, handle, NonRetryableError, type Worker } from '@cronce/worker'
import { Queue } from 'bullmq'
import { pino } from 'pino'
import { z } from 'zod'
import { waitUntil } from '../support/index.ts'
import { type PlayedJob, type PlayedRun, playHistory } from './played-history.ts'

const [SECOND, MINUTE] = [1_000, 60_000]
const [HOUR, DAY] = [60 * MINUTE, 24 * 60 * MINUTE]

const account = {
  schema: z.object({ accountId: z.string(), plan: z.string() }),
  key: (a: { accountId: string }) => a.accountId,
}

function daily(name: string, expression: string, options: CronOptions & { queue?: string; description?: string }) {
  const { queue = 'billing', description, ...rest } = options
  return defineJob({
    ...{ name, schedule: cron(expression, rest), onCrash: 'complete', entity: account, queue },
    ...{ retry: { attempts: 2, backoff: { type: 'fixed', delay: '1s', cap: '1s', jitter: 0 } }, overlap: 'skip' },
    ...(description === undefined ? {} : { description }),
  })
}

const invoices = daily('invoice-run', '0 2 * * *', {
  zone: 'Europe/Berlin',
  description: 'Invoices every account that has something to pay',
})
const settlement = daily('settlement', '30 1 * * *', { zone: 'Europe/Berlin', queue: 'finance' })
const digest = daily('daily-digest', '0 8 * * 1-5', { zone: 'America/Sao_Paulo' })
const exporting = daily('partner-export', '30 2 * * *', { zone: 'America/New_York' })
const retention = daily('retention', '0 3 * * 0', { zone: 'UTC' })
const rollup = defineJob({ ...quick('usage-rollup', '15m'), chunk: { size: 50, concurrency: 5 } })
const refresh = defineJob({ ...quick('cache-refresh', '15s') })
const statements = defineJob({ ...quick('statement-mails', '6h'), limit: { concurrency: 10 } })

function quick(name: string, period: string) {
  return { name, schedule: every(period), onCrash: 'complete', entity: account, queue: 'billing' } as const
}

/** Takes turns that repeat, so that every picture of one day is like the one before. */
function wave(index: number, least: number, most: number): number {
  return Math.round(least + ((most - least) * (1 + Math.sin(index * 1.7) + Math.sin(index * 0.31))) / 3.2)
}

function ran(index: number, run: Partial<PlayedRun> & { took: readonly [number, number] }): PlayedRun {
  const { took, ...rest } = run
  return { lateMs: 4 + (index % 7), tookMs: Math.max(20, wave(index, ...took)), entities: 12, dead: 0, ...rest }
}

const PAST: readonly PlayedJob[] = [
  {
    job: invoices,
    sinceMs: 45 * DAY,
    run: ({ index }) =>
      ran(index, { took: [30 * SECOND, 70 * SECOND], entities: 40, dead: [17, 31, 44].includes(index) ? 2 : 0 }),
  },
  {
    job: settlement,
    sinceMs: 42 * DAY,
    // The newest waits for a worker that never comes.
    run: ({ at, index }) =>
      at > systemClock.now() - DAY ? undefined : ran(index, { took: [15 * MINUTE, 25 * MINUTE] }),
  },
  { job: digest, sinceMs: 60 * DAY, run: ({ index }) => ran(index, { took: [2 * MINUTE, 4 * MINUTE] }) },
  {
    job: exporting,
    sinceMs: 44 * DAY,
    run: ({ index }) => ran(index, { took: [12 * MINUTE, 20 * MINUTE], dead: [28, 29].includes(index) ? 12 : 0 }),
  },
  { job: retention, sinceMs: 70 * DAY, run: ({ index }) => ran(index, { took: [MINUTE, 3 * MINUTE] }) },
  { job: statements, sinceMs: 9 * DAY, run: ({ index }) => ran(index, { took: [MINUTE, 9 * MINUTE] }) },
  {
    job: rollup,
    sinceMs: 11 * HOUR,
    run: ({ index }) => {
      // Longer than its interval now and then: the slot after it is skipped.
      if (index % 17 === 9) return ran(index, { took: [18 * MINUTE, 19 * MINUTE] })
      return ran(index, { took: [7 * MINUTE, 12 * MINUTE], lateMs: index % 11 === 5 ? 95 * SECOND : 6 })
    },
  },
  { job: refresh, sinceMs: 10 * MINUTE + 20 * SECOND, run: ({ index }) => ran(index, { took: [180, 420] }) },
]

/** A service with a past, with something under way, something overdue, something paused and something dead. */
export interface ShownService {
  readonly service: string
  /** A run that a worker is in the middle of. */
  readonly running: string
  close(): Promise<void>
}

export async function openShownService(redis: { readonly url: string }): Promise<ShownService> {
  const service = `shop-${randomUUID().slice(0, 4)}`
  const client = connect(redis.url, 'producer')
  const access = openAccess({ redis: client, service })
  await playHistory({ url: redis.url, service, untilAt: systemClock.now() }, PAST)
  await forgetPlayedTasks(redis, service)
  const gate = new AbortController()
  const stop = await startProcesses(redis, service, gate.signal)
  const running = await press(access)
  return {
    ...{ service, running },
    async close() {
      gate.abort()
      await stop()
      await access.enqueuer.close()
      client.disconnect()
    },
  }
}

/** What was played has run, and what it left on the queues is nobody's work. */
async function forgetPlayedTasks({ url }: { readonly url: string }, service: string): Promise<void> {
  for (const name of ['billing', 'finance']) {
    const queue = new Queue(name, { connection: { url }, prefix: queuePrefix(service, name) })
    await queue.drain(true)
    await queue.close()
  }
}

/** Replicas and workers of this process, one replica of a newer release, and no worker of the queue `finance`. */
async function startProcesses(
  { url }: { readonly url: string },
  service: string,
  signal: AbortSignal,
): Promise<() => Promise<void>> {
  // An edit: the schedule of one job is another one from now on.
  const edited = daily('retention', '0 4 * * 0', { zone: 'UTC' })
  const jobs: readonly JobDefinition[] = PAST.map(({ job }) => (job.name === edited.name ? edited : job))
  const common = { service, redis: url, logger: pino({ level: 'silent' }) }
  const processes: (Trigger | Worker)[] = []
  for (const id of ['pod-1', 'pod-2', 'pod-3']) {
    processes.push(createTrigger({ ...common, jobs, id, release: id === 'pod-3' ? '1.8.3' : '1.8.2' }))
  }
  for (const id of ['worker-1', 'worker-2']) {
    const handlers = handlersUntil(signal)
    processes.push(createWorker({ ...common, handlers, id, release: '1.8.2', queues: { billing: 10 } }))
  }
  for (const process of processes) await process.start()
  return async () => {
    await Promise.all(processes.map((process) => process.stop()))
  }
}

/** Entities that the long run gets through before it stands still. */
const BEFORE_GATE = 130

function handlersUntil(signal: AbortSignal): readonly Handler[] {
  const opened = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
  const accounts =
    (count: number) =>
    ({ after, limit }: { after: string | undefined; limit: number }) => {
      const from = Number(after ?? 0)
      const until = Math.min(count, from + limit)
      const entities = Array.from({ length: until - from }, (_, index) => {
        return { accountId: `acct-${7_000 + (from + index) * 13}`, plan: 'team' }
      })
      return { entities, next: until < count ? String(until) : null }
    }
  let mails = 0
  const others = [invoices, digest, retention, rollup, refresh].map((job) =>
    handle(job, { entities: accounts(12), each: () => undefined }),
  )
  return [
    ...others,
    handle(exporting, {
      entities: accounts(12),
      each: ({ accountId }) => {
        if (accountId.endsWith('3')) throw new NonRetryableError('SFTP: 550 permission denied, /in/november')
      },
    }),
    handle(statements, {
      entities: accounts(620),
      each: async () => {
        mails += 1
        if (mails > BEFORE_GATE) await opened
      },
    }),
  ]
}

/** What operators did: one run by hand that fails, one in the middle, a pause, a backfill. Answers the one in the middle. */
async function press(access: ServiceAccess): Promise<string> {
  const { store } = access
  const [ada, olga] = [
    { name: 'ada', way: 'cli' },
    { name: 'olga', way: 'console', role: 'operator' },
  ] as const
  const now = systemClock.now()
  await pauseJob(access, {
    job: 'retention',
    operator: olga,
    note: 'the disk is being moved',
    until: { afterMs: 5 * HOUR },
  })
  await runNow(access, { job: 'partner-export', operator: ada, why: 'the partner lost our file' })
  const range = { job: 'daily-digest', fromAt: now - 75 * DAY, toAt: now - 70 * DAY }
  await backfill(access, { ...range, operator: ada, why: 'ticket 4711', clock: systemClock })
  const { slot } = await runNow(access, { job: 'statement-mails', operator: olga, why: 'mails of November' })
  const isHalfWay = async () =>
    ((await readSlot(store, 'statement-mails', slotIdOf(slot)))?.entities.planned ?? 0) > 600
  await waitUntil(async () => (await isHalfWay()) || undefined, {
    message: 'the long run is planned',
    timeoutMs: 30_000,
  })
  return slot
}
