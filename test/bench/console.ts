import { pathToFileURL } from 'node:url'
import { cron, defineJob, every, formatSlotId, type JobSettings } from '@cronce/core'
import { createEnqueuer } from '@cronce/queue'
import { claimSlots, connect, createStore, recordSlots, registerJob, type Store } from '@cronce/store'
import { buildPage, startConsoleProcess, TOKENS } from '../browser/console-process.ts'
import { startRedis } from '../support/index.ts'
import { writeManyLetters } from '../support/many-letters.ts'
import { startRun } from '../support/start-run.ts'
import { median } from './trigger/median.ts'

const SERVICE = 'shop'
const LETTERS = 100_000
const JOBS = 100
const SLOTS_OF_JOB = 1_000
const ASKED = 30
const MINUTE = 60_000
const FROM = Date.UTC(2026, 0, 1)

/** How long the console takes to answer a page, ms, over 100,000 dead letters and 100,000 ledger rows. */
interface ConsoleBench {
  readonly bench: 'console'
  readonly letters: number
  readonly rows: number
  readonly pages: Readonly<Record<string, { readonly p50: number; readonly most: number }>>
}

/** `--json` prints one object on the last line, else a line a page. */
export async function main(args: readonly string[]): Promise<void> {
  const redis = await startRedis()
  const client = connect(redis.url, 'producer')
  const now = FROM + (SLOTS_OF_JOB + 1) * MINUTE
  const past = createStore({ redis: client, service: SERVICE, virtualTime: () => clock })
  let clock = FROM
  const jobs = Array.from({ length: JOBS }, (_, index) =>
    defineJob({ name: `job-${index}`, schedule: every('1m'), onCrash: 'complete', overlap: 'allow' }),
  )
  for (const job of jobs) await registerJob(past, job, { by: 'bench' })
  clock = now
  await Promise.all(jobs.map((job) => writeSlots(past, job)))
  const invoices = defineJob({ name: 'invoice-run', schedule: cron('0 2 * * *'), onCrash: 'complete' })
  const store = createStore({ redis: client, service: SERVICE })
  const enqueuer = createEnqueuer({ redis: client, service: SERVICE })
  const run = await startRun(invoices, { store, enqueuer })
  const message = (index: number) => (index % 1_000 === 0 ? 'HTTP 404 no such account' : 'HTTP 503 busy')
  await writeManyLetters(store, run, { count: LETTERS, fromAt: FROM, message })
  await buildPage()
  const opened = await startConsoleProcess({ redis, service: SERVICE })
  const headers = { authorization: `Bearer ${TOKENS.viewer}` }
  const paths = {
    'dead letters': '/api/dead?limit=50',
    'dead letters of a job': '/api/dead?limit=50&job=invoice-run',
    'dead letters by an error text of one in a thousand': '/api/dead?limit=50&error=HTTP%20404',
    runs: '/api/runs?limit=50',
    'runs of a job': '/api/runs?limit=50&job=job-7',
    'schedules, 50 of 101 jobs': '/api/schedules?limit=50',
  }
  const pages: Record<string, { p50: number; most: number }> = {}
  for (const [name, path] of Object.entries(paths)) {
    const took: number[] = []
    for (let asked = 0; asked < ASKED; asked++) {
      const startedAt = performance.now()
      const answer = await fetch(`${opened.url}${path}`, { headers })
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
      await answer.json()
      took.push(performance.now() - startedAt)
    }
    pages[name] = { p50: Math.round(median(took)), most: Math.round(Math.max(...took)) }
  }
  const result: ConsoleBench = { bench: 'console', letters: LETTERS, rows: JOBS * SLOTS_OF_JOB, pages }
  process.stdout.write(args.includes('--json') ? `${JSON.stringify(result)}\n` : text(result))
  await opened.process.kill()
  await enqueuer.close()
  client.disconnect()
  await redis.stop()
}

/** As many slots as are kept in detail, claimed and recorded by the scripts that a trigger uses, a hundred at once. */
async function writeSlots(store: Store, job: JobSettings): Promise<void> {
  const place = { queue: job.queue, version: job.version, replica: 'pod-1', release: '1.8.2' }
  for (let first = 1; first <= SLOTS_OF_JOB; first += 100) {
    const slots = Array.from({ length: 100 }, (_, index) => {
      const at = FROM + (first + index) * MINUTE
      return { id: formatSlotId(at), at, effectiveAt: at }
    })
    const watermarkAt = FROM + (first - 1) * MINUTE
    const asked = { job: job.name, slots, complete: slots.length, generation: 1, watermarkAt, token: `t-${first}` }
    const policy = {
      overlap: job.overlap,
      timeoutMs: job.timeoutMs,
      expireMs: 0,
      leaseMs: 10_000,
      graceMs: 1e12,
      backlog: 1,
    }
    const answer = await claimSlots(store, { ...asked, ...policy, ...place })
    if (answer.slots.some(({ verdict }) => verdict !== 'claimed')) throw new Error('a slot was not claimed')
    await recordSlots(store, { job: job.name, added: slots, markerMs: MINUTE, foreign: true, ...place, slots })
  }
}

function text({ letters, rows, pages }: ConsoleBench): string {
  const lines = Object.entries(pages).map(([name, { p50, most }]) => `${name}: ${p50} ms, at most ${most} ms`)
  return [`${letters} dead letters, ${rows} ledger rows, ${ASKED} answers of each page`, ...lines, ''].join('\n')
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await main(process.argv.slice(2))
}
