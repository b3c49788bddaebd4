import { type AlarmFacts, createEmitter, type EventSource } from '@cronce/core'
import { heartbeatWorker, type WorkerPresence } from '@cronce/store'
import type { Trigger } from '@cronce/trigger'
import { createWatchdog, type WatchdogSettings } from '@cronce/watchdog'
import type { Fleet } from './fleet.ts'

/** Every alarm that any process of a fleet told, in order. */
export interface ToldAlarm extends AlarmFacts {
  readonly event: 'raised' | 'cleared'
}

/** A fleet whose watchdogs look by hand, as often as they would by themselves. */
export interface WatchedFleet {
  readonly told: readonly ToldAlarm[]
  /** What was raised and cleared of one kind: `raised slot-key: reason`. */
  of(kind: AlarmFacts['kind']): string[]
  /** Adds a replica to those whose watchdogs look. */
  add(...triggers: Trigger[]): void
  /** A process without a trigger, such as a worker, looks as well. */
  addProcess(who: string, settings?: WatchdogSettings): EventSource
  /** Workers that say that they live at every step; none by default. */
  workers: Partial<WorkerPresence>[]
  /** Moves the clock; at every ten seconds each watchdog looks. */
  advance(byMs: number): Promise<void>
  /** Each watchdog looks, where the clock stands. */
  look(): Promise<void>
}

const STEP_MS = 10_000

export function watchFleet(fleet: Fleet): WatchedFleet {
  const told: ToldAlarm[] = []
  const looks: (() => Promise<unknown>)[] = []
  const listen = (events: EventSource) => {
    events.on('alarm.raised', (facts) => told.push({ ...facts, event: 'raised' }))
    events.on('alarm.cleared', (facts) => told.push({ ...facts, event: 'cleared' }))
  }
  const watched: WatchedFleet = {
    told,
    workers: [],
    of: (kind) =>
      told
        .filter((alarm) => alarm.kind === kind)
        .map(({ event, slot, job, reason }) => `${event} ${slot ?? job ?? '-'}: ${reason}`),
    add(...triggers) {
      for (const trigger of triggers) {
        listen(trigger.events)
        looks.push(() => trigger.watch())
      }
    },
    addProcess(who, settings = {}) {
      const events = createEmitter()
      listen(events)
      const watchdog = createWatchdog({
        ...settings,
        store: fleet.store,
        events,
        who,
        clock: fleet.clock,
        random: () => 0.5,
      })
      looks.push(() => watchdog.look())
      return events
    },
    async advance(byMs) {
      const end = fleet.clock.now() + byMs
      while (fleet.clock.now() < end) {
        await fleet.advance(Math.min(STEP_MS, end - fleet.clock.now()), STEP_MS)
        await watched.look()
      }
    },
    async look() {
      const now = fleet.clock.now()
      for (const worker of watched.workers) await heartbeatWorker(fleet.store, { ...NOBODY, ...worker }, now)
      // At the same time, as replicas do.
      await Promise.all(looks.map((look) => look().catch(() => undefined)))
    },
  }
  return watched
}

const NOBODY: WorkerPresence = {
  ...{ id: 'worker-1', release: 'test', host: 'here', pid: 1, startedAt: 0, active: 0 },
  queues: {},
  handlers: {},
}
