import { type CancelTimer, type Clock, type EventEmitter, type Random, systemClock, systemRandom } from '@cronce/core'
import { type AlarmEntry, type Store, settleLetters, takeLetters } from '@cronce/store'
import { deliverLetters, type Postman } from './deliver-letters.ts'
import { startHeartbeats } from './heartbeats.ts'
import { factsOf, LocalAlarms, OUT_OF_REACH_MS } from './local-alarm.ts'
import { type LookResult, look } from './look.ts'
import { watchReach } from './store-reach.ts'
import { checkSettings, type WatchdogSettings } from './watchdog-options.ts'

/** The longest pause between two looks, ms: what another process put on the agenda is seen within it. */
const LONGEST_PAUSE_MS = 60_000

/** Letters of one notice. */
const LETTERS = 50

/** Letters that a process took and did not come back with are another's after this, ms: longer than any attempt. */
const LETTER_LEASE_MS = 60_000

/** How long a stop waits for a delivery under way, ms; its letters are another's when their lease ends. */
const STOP_MS = 2_000

/** Share of the interval that is left to chance, so that a fleet does not look in step. */
const JITTER = 0.2

export interface WatchdogOptions extends WatchdogSettings {
  readonly store: Store
  /** Alarms come out here; it hears of runs that end and, where a trigger emits here too, of a store that is out of reach (T13). */
  readonly events: EventEmitter
  /** This process's name in the journal: the id of its replica or worker. */
  readonly who: string
  /** Default: the machine's clock. */
  readonly clock?: Clock
  /** Default: the machine's chance. */
  readonly random?: Random
}

/** What one look came to. */
export interface WatchdogLook {
  /** Jobs that this process judged; those of others are not among them. */
  readonly looked: number
  /** Alarms that this process raised or cleared. */
  readonly entries: readonly AlarmEntry[]
}

/** The watchdog of one process. */
export interface Watchdog {
  /** One look, and one attempt to deliver what is to be delivered, by hand. Rejects where the store is out of reach. */
  look(): Promise<WatchdogLook>
  /** Begins to look by itself. Idempotent. */
  start(): void
  /** Ends after the look in hand. Idempotent. */
  stop(): Promise<void>
}

/**
 * Makes the watchdog of a process: it raises an alarm for what did not run, whichever process failed. All watchdogs of a service
 * share their looks and their alarms, so one of them is enough, and a hundred raise no alarm twice.
 *
 * @throws CronceError CRONCE_WATCHDOG_INVALID
 * @example
 * const watchdog = createWatchdog({ store, events, who: 'ops-1', notifiers: [webhookNotifier({ url, secret })] })
 * watchdog.start()
 */
export function createWatchdog(options: WatchdogOptions): Watchdog {
  const { store, events, who, clock = systemClock, random = systemRandom } = options
  const { intervalMs, notifiers, heartbeats } = checkSettings(options)
  const postman: Postman = { service: store.service, by: who, notifiers, events, random }
  const delivers = notifiers.length > 0
  const ownAlarms = new LocalAlarms(postman)
  const reach = watchReach(events, clock)
  let state: 'created' | 'running' | 'stopped' = 'created'
  let cancelTimer: CancelTimer = () => undefined
  let wakeAt = Number.POSITIVE_INFINITY
  let pass: Promise<void> = Promise.resolve()
  let delivery: Promise<void> | undefined
  const unlisten: (() => void)[] = []

  async function judge(): Promise<LookResult> {
    const result = await look({ store, who, intervalMs, delivers })
    for (const entry of result.entries)
      events.emit(entry.event === 'cleared' ? 'alarm.cleared' : 'alarm.raised', factsOf(entry))
    const unwritten = ownAlarms.takeUnwritten()
    await settleLetters(store, [], unwritten)
    return result
  }

  async function lookHere(): Promise<readonly AlarmEntry[]> {
    return await ownAlarms.look(reach.facts(), clock.now())
  }

  /** Answers when there is something to deliver again, on the store's clock. */
  async function deliver(): Promise<void> {
    for (;;) {
      const { now, letters } = await takeLetters(store, { putOffMs: LETTER_LEASE_MS, most: LETTERS })
      const { outcomes, journal } = await deliverLetters(postman, letters, now)
      await settleLetters(store, outcomes, journal)
      if (letters.length < LETTERS) return
    }
  }

  /** A receiver that answers nothing holds up no look. */
  function deliverAside(): void {
    delivery ??= deliver()
      .catch((error: unknown) => events.emit('watchdog.failed', { error }))
      .finally(() => {
        delivery = undefined
        wakeBy(clock.now() + intervalMs)
      })
  }

  async function runPass(): Promise<void> {
    wakeAt = Number.POSITIVE_INFINITY
    let pauseMs = intervalMs
    try {
      const { nextAt, now, letters } = await judge()
      if (letters === 'due') deliverAside()
      pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(intervalMs, (nextAt ?? Number.POSITIVE_INFINITY) - now))
    } catch (error) {
      events.emit('watchdog.failed', { error })
    }
    await lookHere()
    const jitterMs = Math.round(intervalMs * JITTER * random())
    wakeBy(Math.min(clock.now() + pauseMs + jitterMs, ownAlarms.nextAt ?? Number.POSITIVE_INFINITY))
  }

  /** Looks at `at` or sooner. */
  function wakeBy(at: number): void {
    if (state !== 'running' || at >= wakeAt) return
    cancelTimer()
    wakeAt = at
    cancelTimer = clock.after(Math.max(0, at - clock.now()), () => {
      pass = pass.then(runPass)
    })
  }

  return {
    async look() {
      try {
        const { looked, entries, letters } = await judge()
        if (letters === 'due') await deliver()
        return { looked, entries }
      } finally {
        await lookHere()
      }
    },
    start() {
      if (state !== 'created') return
      state = 'running'
      unlisten.push(
        startHeartbeats({ events, clock, urls: heartbeats }),
        // T13: an outage is an alarm when it has lasted, not when the next look would have come.
        events.on('tick.failed', () => wakeBy(clock.now() + OUT_OF_REACH_MS)),
      )
      wakeBy(clock.now() + Math.round(intervalMs * random()))
    },
    async stop() {
      if (state === 'stopped') return
      state = 'stopped'
      cancelTimer()
      reach.stop()
      for (const end of unlisten) end()
      await pass
      const cut = new Promise<void>((resolve) => unlisten.push(clock.after(STOP_MS, resolve)))
      await Promise.race([delivery ?? Promise.resolve(), cut])
      for (const end of unlisten) end()
    },
  }
}
