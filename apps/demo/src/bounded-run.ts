import {
  type Clock,
  formatSlotKey,
  isEnded,
  isRecorded,
  nextSlot,
  type Random,
  RUN_STATES,
  type SlotKey,
} from '@cronce/core'
import { cacheRefresh, packageReport } from '@cronce/jobs'
import type { LedgerEntry } from '@cronce/store'
import { judgeRedrive } from './counting/redrive-verdict.ts'
import { judge, type Verdict } from './counting/verdict.ts'
import { anyOf, busiestWorker, describeKill, type Kill, killOne } from './kills.ts'
import { killWorkersUntilEnd, redriveReport, tellProgress } from './long-report.ts'
import type { BoundedOptions } from './options.ts'
import { countStarts, tallyEffects } from './receiver/effect-tally.ts'
import type { DemoSystem } from './system.ts'
import { until } from './until.ts'

export interface BoundedRun {
  readonly system: DemoSystem
  readonly options: BoundedOptions
  readonly clock: Clock
  readonly random: Random
  /** Ends the run early: Ctrl-C. */
  readonly signal: AbortSignal
  readonly tell: (line: string) => void
}

/** Between "all are ready" and the first slot that counts. */
const LEAD_MS = 500

/** After the last slot, all of this must be over; a killed worker's work goes on within seconds. */
const SETTLED_WITHIN_MS = 120_000

/** ... and this much later for each entity of a long report: kills every other second leave little time to work. */
const PER_ENTITY_MS = 10

/** A worker is killed once this share of the report is done. */
const KILL_AT_SHARE = 0.2

const LOOK_EVERY_MS = 50

/** Runs a window of slots and one report, with a kill of each role in the middle, and judges what every source says. */
export async function runBounded(run: BoundedRun): Promise<Verdict | 'aborted'> {
  const { system, options, clock, signal, tell } = run
  const window = windowFrom(clock.now() + LEAD_MS, options.slots)
  const report = await system.startReport()
  tell(`${window.length} slots of ${cacheRefresh.name} count, from ${window[0]?.key}; ${report} runs meanwhile`)
  const { long } = options
  const kills = options.kills === 'on' ? killWorkers(run, { window, report }) : Promise.resolve([])
  const stopTelling = long === undefined ? () => undefined : tellProgress(run, report)
  const settled = await until(() => isSettled(run, { window, report }), {
    clock,
    signal,
    everyMs: LOOK_EVERY_MS * 4,
    withinMs: (window.at(-1)?.at ?? 0) - clock.now() + SETTLED_WITHIN_MS + PER_ENTITY_MS * (long?.entities ?? 0),
  })
  const killed = (await kills).length
  stopTelling()
  if (settled === 'aborted') return 'aborted'
  const entries = await Promise.all(window.map(({ key }) => system.readRun(cacheRefresh.name, key)))
  const reported = await system.readRun(packageReport.name, report)
  const redriven = long === undefined ? undefined : await redriveReport(run, report)
  await system.stopProcesses()
  const lines = await system.effects.read()
  const keys = window.map(({ key }) => key)
  const verdict = judge({
    replicas: options.replicas,
    kills: killed,
    window: entries.map((entry, index) => ({
      slot: keys[index] ?? '',
      state: entry?.state,
      latenessMs: entry?.latenessMs,
    })),
    attempts: system.watch.attempts.count(keys),
    starts: countStarts(lines, keys),
    report: {
      state: reported?.state,
      planned: reported?.entities.planned ?? 0,
      done: reported?.entities.done ?? 0,
      dead: reported?.entities.dead ?? 0,
    },
    effects: redriven?.effectsBefore ?? tallyEffects(lines, report),
  })
  if (long === undefined || redriven === undefined) return verdict
  return judgeRedrive(verdict, { long, redriven, effects: tallyEffects(lines, report) })
}

function killWorkers(run: BoundedRun, counted: Counted): Promise<readonly Kill[]> {
  const { long } = run.options
  if (long?.killEveryMs === undefined) return killInTheMiddle(run, counted)
  return killWorkersUntilEnd(run, { report: counted.report, everyMs: long.killEveryMs })
}

interface Counted {
  readonly window: readonly WindowSlot[]
  readonly report: SlotKey
}

interface WindowSlot {
  readonly key: SlotKey
  readonly at: number
}

/** The first slots after an instant, as the schedule alone gives them. */
function windowFrom(afterAt: number, count: number): WindowSlot[] {
  const window: WindowSlot[] = []
  let at = nextSlot(cacheRefresh.schedule, afterAt)
  while (at !== undefined && window.length < count) {
    window.push({ at, key: formatSlotKey({ job: cacheRefresh.name, at }) })
    at = nextSlot(cacheRefresh.schedule, at)
  }
  return window
}

/**
 * Whether there is nothing left to wait for: every slot came to something, every replica that has tried one of them and
 * lives has tried the last, the report ended.
 */
async function isSettled({ system, clock }: BoundedRun, { window, report }: Counted): Promise<boolean> {
  const last = window.at(-1)
  if (last === undefined || clock.now() <= last.at) return false
  const { attempts } = system.watch
  const tried = attempts.triedBy(last.key)
  const joined = new Set(window.flatMap(({ key }) => [...attempts.triedBy(key)]))
  if (system.fleet.running('replica').some(({ id }) => joined.has(id) && !tried.has(id))) return false
  const entries = await Promise.all([
    system.readRun(packageReport.name, report),
    ...window.map(({ key }) => system.readRun(cacheRefresh.name, key)),
  ])
  return entries.every(cameToSomething)
}

function cameToSomething(entry: LedgerEntry | undefined): boolean {
  return entry !== undefined && isRecorded(entry.state) && RUN_STATES[entry.state] !== 'active'
}

async function killInTheMiddle(run: BoundedRun, counted: Counted): Promise<readonly Kill[]> {
  const kills = await Promise.all([killReplica(run, counted), killWorker(run, counted)])
  return kills.filter((kill) => kill !== undefined)
}

async function killReplica(run: BoundedRun, { window, report }: Counted): Promise<Kill | undefined> {
  const { system, clock, random, signal } = run
  const middleAt = window[Math.floor(window.length / 2)]?.at ?? 0
  const options = { clock, signal, everyMs: LOOK_EVERY_MS, withinMs: Number.MAX_SAFE_INTEGER }
  if ((await until(() => clock.now() >= middleAt, options)) !== 'held') return undefined
  const victim = anyOf(system, 'replica', random)
  return victim === undefined ? undefined : await told(run, killOne(system, victim, { role: 'replica', report }))
}

/** Kills a worker in the middle of a chunk; where the report was faster, one that holds nothing. */
async function killWorker(run: BoundedRun, { report }: Counted): Promise<Kill | undefined> {
  const { system, clock, random, signal } = run
  let victim = busiestWorker(system, report)
  const isTime = async () => {
    const entry = await system.readRun(packageReport.name, report)
    if (entry !== undefined && isEnded(entry.state)) return true
    const enough = entry !== undefined && entry.entities.done >= entry.entities.planned * KILL_AT_SHARE
    victim = busiestWorker(system, report)
    return enough && entry.entities.done > 0 && victim !== undefined
  }
  const held = await until(isTime, { clock, signal, everyMs: LOOK_EVERY_MS, withinMs: SETTLED_WITHIN_MS })
  victim ??= anyOf(system, 'worker', random)
  return held === 'aborted' || victim === undefined
    ? undefined
    : await told(run, killOne(system, victim, { role: 'worker', report }))
}

async function told({ tell }: BoundedRun, killing: Promise<Kill>): Promise<Kill> {
  const kill = await killing
  tell(describeKill(kill))
  return kill
}
