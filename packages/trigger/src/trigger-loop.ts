import type { CancelTimer } from '@cronce/core'
import { beat, type SelfFacts } from './presence.ts'
import { sweep } from './sweep.ts'
import { dueHere, type TickResult, tick } from './tick.ts'
import type { TriggerContext } from './trigger-context.ts'
import { LONGEST_SLEEP_MS } from './trigger-timing.ts'

/** How long to wait after the store was out of reach, ms: soon, then every two seconds. */
const RETRY_MS = [100, 250, 500, 1_000, 2_000]

/** What the loop knows of its own health. */
export interface LoopHealth {
  /** Last tick or sweep that reached the store, this clock; undefined before the first. */
  readonly lastReachedAt: number | undefined
  /** How much later than planned the loop last woke, ms. */
  readonly lateMs: number
  /** Consecutive failures to reach the store. */
  readonly failures: number
}

/** The loop of one replica: sleeps until the earliest next slot or the next sweep, one pass at a time. */
export interface TriggerLoop {
  start(): void
  /** Ends the loop after the pass in hand. */
  stop(): Promise<void>
  /** One pass over what is due now: for tests and for whoever drives the loop by hand. */
  tick(): Promise<TickResult>
  /** One sweep now. */
  sweep(): Promise<void>
  /** One heartbeat now. */
  beat(): Promise<void>
  health(): LoopHealth
}

export function createTriggerLoop(
  context: TriggerContext,
  start: Omit<SelfFacts, 'loopLateMs'> & { newestChange: number },
): TriggerLoop {
  const { newestChange: seenChange, ...self } = start
  const { clock, events, random, timing, redisClock } = context
  let cancelTimer: CancelTimer = () => undefined
  let pass: Promise<void> = Promise.resolve()
  let running = false
  let wakeAt = 0
  let nextSweepAt = 0
  let nextBeatAt = 0
  let newestChange = seenChange
  let health: LoopHealth = { lastReachedAt: undefined, lateMs: 0, failures: 0 }

  async function tickNow(): Promise<TickResult> {
    const names = context.due.takeDue(redisClock.now())
    const startedAt = clock.now()
    try {
      const result = await tick(context, names)
      const { due, claimed, lost } = result
      if (due > 0)
        events.emit('tick.finished', { due, claimed, lost, tookMs: clock.now() - startedAt, lateMs: health.lateMs })
      return result
    } catch (error) {
      events.emit('tick.failed', { error, dueSlots: dueHere(context, names) })
      throw error
    }
  }

  async function sweepNow(): Promise<void> {
    newestChange = await sweep(context, newestChange)
  }

  async function runPass(): Promise<void> {
    const now = clock.now()
    health = { ...health, lateMs: Math.max(0, now - wakeAt) }
    try {
      await tickNow()
      if (now >= nextBeatAt) {
        await beat(context, { ...self, loopLateMs: health.lateMs })
        nextBeatAt = now + timing.heartbeatMs
      }
      if (now >= nextSweepAt) {
        await sweepNow()
        // Jitter keeps the replicas of a deploy from sweeping in step.
        nextSweepAt = clock.now() + timing.sweepMs * (0.75 + 0.5 * random())
      }
      if (health.failures > 0) events.emit('store.reached', { afterMs: clock.now() - (health.lastReachedAt ?? now) })
      health = { ...health, lastReachedAt: clock.now(), failures: 0 }
    } catch (error) {
      if (health.failures === 0) events.emit('store.lost-touch', { error })
      health = { ...health, failures: health.failures + 1 }
    }
  }

  function arm(): void {
    if (!running) return
    const now = clock.now()
    wakeAt = health.failures > 0 ? now + (RETRY_MS[health.failures - 1] ?? 2_000) : Math.max(now, earliest(now))
    cancelTimer = clock.after(wakeAt - now, () => {
      pass = runPass().then(arm)
    })
  }

  /** When there is something to do next, on this clock. */
  function earliest(now: number): number {
    const skew = redisClock.skewMs
    return Math.min(nextSweepAt, nextBeatAt, now + LONGEST_SLEEP_MS, context.due.earliest() - skew)
  }

  return {
    start() {
      if (running) return
      running = true
      arm()
    },
    async stop() {
      running = false
      cancelTimer()
      await pass
    },
    tick: tickNow,
    sweep: sweepNow,
    beat: () => beat(context, { ...self, loopLateMs: health.lateMs }),
    health: () => health,
  }
}
