import { setTimeout as delay } from 'node:timers/promises'
import type { Clock, Random, SlotKey } from '@cronce/core'
import { packageReport } from '@cronce/jobs'
import { anyOf, busiestWorker, describeKill, killOne } from './kills.ts'
import type { InteractiveOptions } from './options.ts'
import type { Role } from './processes/fleet.ts'
import type { DemoSystem } from './system.ts'
import { until } from './until.ts'
import type { EndNotes } from './view/end-notes.ts'
import { gatherFacts } from './view/facts.ts'
import { frameOf } from './view/frame.ts'
import { openScreen } from './view/screen.ts'
import { createSparseLines } from './view/sparse-lines.ts'

export interface InteractiveRun {
  readonly system: DemoSystem
  readonly options: InteractiveOptions
  readonly clock: Clock
  readonly random: Random
  /** Ctrl-C. */
  readonly signal: AbortSignal
  readonly redisUrl: string
  /** Of the console; undefined where it did not start. */
  readonly signInUrl: string | undefined
  readonly ends: EndNotes
}

const DRAW_EVERY_MS = 500
const LOOK_EVERY_MS = 100

/** Entities of the report that are done before the first kill. */
const FIRST_KILL_AFTER = 3_000
const KILL_EVERY_MS = 20_000

/** Shows what happens until told to stop. One report runs at once, so that there is something to see. */
export async function runInteractive(run: InteractiveRun): Promise<void> {
  const { system, options, clock, signal, ends, redisUrl, signInUrl } = run
  const startedAt = clock.now()
  const screen = openScreen(process.stdout)
  const sparse = createSparseLines()
  const look = async () => {
    try {
      const facts = await gatherFacts({ system, ends: ends.notes(), redisUrl, signInUrl, startedAt, now: clock.now() })
      screen.draw(frameOf(facts, screen.columns))
      for (const line of sparse(facts)) screen.say(line)
    } catch (error) {
      screen.draw([`Redis at ${redisUrl} is out of reach; waiting for it`, String(error)])
    }
  }
  ends.onNote((text) => screen.say(text))
  const report = await system.startReport()
  const killing = options.kills === 'on' ? killNowAndThen(run, report) : Promise.resolve()
  try {
    while (!signal.aborted) {
      await look()
      await pause(DRAW_EVERY_MS, signal)
    }
  } finally {
    screen.close()
    await killing
  }
}

/** First a worker in the middle of the report, then every now and then whoever. */
async function killNowAndThen(run: InteractiveRun, report: SlotKey): Promise<void> {
  const { system, clock, random, signal, ends } = run
  const isBusy = async () => {
    const entry = await system.readRun(packageReport.name, report).catch(() => undefined)
    return (entry?.entities.done ?? 0) > FIRST_KILL_AFTER && busiestWorker(system, report) !== undefined
  }
  await until(isBusy, { clock, signal, everyMs: LOOK_EVERY_MS, withinMs: KILL_EVERY_MS })
  let role: Role = 'worker'
  while (!signal.aborted) {
    const victim = (role === 'worker' ? busiestWorker(system, report) : undefined) ?? anyOf(system, role, random)
    if (victim !== undefined) ends.note(describeKill(await killOne(system, victim, { role, report })))
    await pause(KILL_EVERY_MS * (0.75 + 0.5 * random()), signal)
    role = random() < 0.5 ? 'replica' : 'worker'
  }
}

async function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  await delay(delayMs, undefined, { signal }).catch(() => undefined)
}
