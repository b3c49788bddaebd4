import { appendFileSync, readFileSync } from 'node:fs'
import { systemClock } from '@cronce/core'
import { createWorker, type EntityContext, handle, type WorkerOptions } from '@cronce/worker'
import { pino } from 'pino'
import { type BulkDeath, openBulk } from './bulk-effects.ts'
import { type CrashPoint, dieAt, isCasualty } from './crash-point.ts'
import { writeEvents, writeLine } from './event-lines.ts'
import { type JobSpec, jobOf, type Row } from './job-spec.ts'

/** What a handler does to an entity, by its key. Default: waits `delayMs`, then does the effect. */
export interface Act {
  readonly kind: 'die' | 'die-after-effect' | 'die-after-receipt' | 'freeze' | 'block' | 'throw' | BulkDeath
  /** How often, over all processes. Default: each time. */
  readonly times?: number
  /** Of `block`: how long the event loop stands still. */
  readonly forMs?: number
}

/** How a worker is told to be: the one argument of this program, as JSON. */
export interface WorkerConfig
  extends Omit<WorkerOptions, 'handlers' | 'redis' | 'logger' | 'clock' | 'random' | 'time'> {
  readonly redis: string
  readonly jobs: readonly JobSpec[]
  /** A file with one key a line, read anew for every page: rows come and go. */
  readonly rows: string
  /** A file to which every effect is appended. */
  readonly effects: string
  readonly delayMs: number
  readonly acts: Readonly<Record<string, Act>>
  /** Whether the effect is behind `ctx.once`. */
  readonly once: boolean
  readonly points: readonly CrashPoint[]
  readonly casualties: string
  /** Where it is: effects are rows of its table `effect`, written a chunk at a time in one transaction with their receipts. */
  readonly postgres?: string
}

const config = JSON.parse(process.argv[2] ?? '') as WorkerConfig
const { jobs, rows, effects, delayMs, acts, once, points, casualties, postgres, ...options } = config

function note(
  phase: 'start' | 'effect' | 'done',
  context: Pick<EntityContext, 'attempt'> & { slot: string; key: string },
): void {
  const { slot, key, attempt } = context
  appendFileSync(effects, `${JSON.stringify({ phase, slot, key, attempt, pid: process.pid, at: systemClock.now() })}\n`)
}

function act(id: string, ...kinds: Act['kind'][]): void {
  const chosen = acts[id]
  if (chosen === undefined || !kinds.includes(chosen.kind)) return
  if (!isCasualty(casualties, `act-${id}`, chosen.times ?? Number.POSITIVE_INFINITY)) return
  if (chosen.kind === 'throw') throw new Error(`${id} was told to fail`)
  if (chosen.kind === 'block') block(chosen.forMs ?? 0)
  else process.kill(process.pid, chosen.kind === 'freeze' ? 'SIGSTOP' : 'SIGKILL')
}

/** The event loop stands still: no lock is renewed, no answer is read. */
function block(forMs: number): void {
  const until = performance.now() + forMs
  while (performance.now() < until);
}

function entities({ after = '', limit }: { readonly after?: string | undefined; readonly limit: number }): Row[] {
  const keys = readFileSync(rows, 'utf8')
    .split('\n')
    .filter((key) => key > after)
  return keys
    .toSorted()
    .slice(0, limit)
    .map((id) => ({ id }))
}

const bulk = postgres === undefined ? undefined : openBulk(postgres)
const handlers = jobs.map((spec) => {
  if (bulk !== undefined) return bulk.handler(jobOf(spec), { entities, act })
  return handle(jobOf(spec), {
    entities,
    each: async ({ id }, context) => {
      const facts = { slot: context.slot.key, key: id, attempt: context.attempt }
      note('start', facts)
      act(id, 'die', 'freeze', 'block')
      await new Promise((resolve) => setTimeout(resolve, delayMs))
      act(id, 'throw')
      const effect = () => {
        note('effect', facts)
        act(id, 'die-after-effect')
      }
      if (once) await context.once('append', effect)
      else effect()
      act(id, 'die-after-receipt')
    },
    done: ({ slot }, { attempt }) => note('done', { slot: slot.key, key: '', attempt }),
  })
})
const worker = createWorker({ ...options, handlers, ...bulk?.options, logger: pino({ level: 'silent' }) })
writeEvents(worker.events)
dieAt(worker.events, points, casualties)
let asked = 0
process.on('SIGTERM', () => {
  asked += 1
  writeLine({ event: 'told to stop', times: asked })
  void worker.stop({ force: asked > 1 })
})
await worker.start()
