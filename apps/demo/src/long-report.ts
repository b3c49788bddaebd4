import { setTimeout as delay } from 'node:timers/promises'
import { isEnded, type SlotKey } from '@cronce/core'
import { packageReport } from '@cronce/jobs'
import { redrive } from '@cronce/operations'
import type { LedgerEntry } from '@cronce/store'
import type { BoundedRun } from './bounded-run.ts'
import { describeKill, type Kill, killOne } from './kills.ts'
import { type EffectTally, tallyEffects } from './receiver/effect-tally.ts'
import { until } from './until.ts'

/** A redrive of a few entities is over within this. */
const REDRIVEN_WITHIN_MS = 60_000

const LOOK_EVERY_MS = 100
const TELL_EVERY_MS = 5_000

/** Kills one worker by chance every so often, from when it is under way until the report has ended. Each has a successor. */
export async function killWorkersUntilEnd(
  run: BoundedRun,
  { report, everyMs }: { report: SlotKey; everyMs: number },
): Promise<readonly Kill[]> {
  const { system, clock, random, signal, tell } = run
  const kills: Kill[] = []
  let nextAt = clock.now() + everyMs
  for (;;) {
    const isTime = async () => (await hasEnded(run, report)) || clock.now() >= nextAt
    await until(isTime, { clock, signal, everyMs: LOOK_EVERY_MS, withinMs: Number.MAX_SAFE_INTEGER })
    if (signal.aborted || (await hasEnded(run, report))) return kills
    // A fleet that is killed faster than it starts does nothing at all: whoever has got a chunk of it done may go.
    const victims = system.fleet.running('worker').filter(({ id }) => system.watch.hasWorked(id, report))
    const victim = victims[Math.floor(random() * victims.length)]
    if (victim === undefined) continue
    const kill = await killOne(system, victim, { role: 'worker', report })
    tell(describeKill(kill))
    kills.push(kill)
    nextAt = clock.now() + everyMs
  }
}

async function hasEnded({ system }: BoundedRun, report: SlotKey): Promise<boolean> {
  const entry = await system.readRun(packageReport.name, report)
  return entry !== undefined && isEnded(entry.state)
}

/** Tells now and then how far the report is. Answers what ends it. */
export function tellProgress({ system, signal, tell }: BoundedRun, report: SlotKey): () => void {
  const over = new AbortController()
  const either = AbortSignal.any([signal, over.signal])
  const round = async () => {
    while (!either.aborted) {
      await delay(TELL_EVERY_MS, undefined, { signal: either }).catch(() => undefined)
      const entities = either.aborted ? undefined : (await system.readRun(packageReport.name, report))?.entities
      if (entities !== undefined) tell(`${entities.done} of ${entities.planned} planned done, ${entities.dead} dead`)
    }
  }
  // Redis may be gone at the end of it all.
  void round().catch(() => undefined)
  return () => over.abort()
}

/** What a redrive made of a run. */
export interface RedrivenReport {
  readonly entities: number
  /** The ledger afterwards. */
  readonly after: LedgerEntry | undefined
  /** The receiver's effects before it. */
  readonly effectsBefore: EffectTally
}

/** Runs the dead letters of the report again, which the receiver declines no more, and waits for what becomes of them. */
export async function redriveReport(run: BoundedRun, report: SlotKey): Promise<RedrivenReport> {
  const { system, clock, signal, tell } = run
  const effectsBefore = tallyEffects(await system.effects.read(), report)
  const before = await system.readRun(packageReport.name, report)
  system.receiver.relent()
  const request = { selection: { slot: report }, operator: { name: 'npm start' }, mode: 'redrive' } as const
  const { entities } = await redrive(system.access, request)
  tell(`${entities} dead letters of ${report} are redriven`)
  const isOver = async () => {
    const entry = await system.readRun(packageReport.name, report)
    return entry !== undefined && isEnded(entry.state) && entry.version > (before?.version ?? 0)
  }
  if (entities > 0) await until(isOver, { clock, signal, everyMs: LOOK_EVERY_MS, withinMs: REDRIVEN_WITHIN_MS })
  return { entities, after: await system.readRun(packageReport.name, report), effectsBefore }
}
