import type { JobDefinition } from '@cronce/core'
import { connect, createStore, type LedgerEntry, listSlots, type RedisClient, type Store } from '@cronce/store'
import { createTrigger, type Trigger, type TriggerOptions } from '@cronce/trigger'
import { pino } from 'pino'
import { type ManualClock, manualClock } from './manual-clock.ts'

/** Replicas of one service on a virtual clock: nothing happens until the test says so. */
export interface Fleet {
  readonly clock: ManualClock
  readonly store: Store
  readonly redis: RedisClient
  /** Makes a replica that carries these jobs, and registers them. */
  join(id: string, jobs: readonly JobDefinition[], options?: Partial<TriggerOptions>): Promise<Trigger>
  /** Ends a replica as a deploy does, with a goodbye. */
  leave(trigger: Trigger): Promise<void>
  /** Moves the clock in steps; at each step every replica ticks, and sweeps where it is time. */
  advance(byMs: number, stepMs?: number): Promise<void>
  /** One tick of every replica, where the clock stands. */
  tick(): Promise<void>
  sweep(): Promise<void>
  /** A job's slots, oldest first. */
  slots(job: string): Promise<LedgerEntry[]>
  close(): Promise<void>
}

/** A Monday at noon, UTC. */
export const NOON = Date.UTC(2026, 5, 1, 12)

const SWEEP_MS = 10_000

export function createFleet(options: { url: string; service: string; startAt?: number }): Fleet {
  const clock = manualClock(options.startAt ?? NOON)
  const redis = connect(options.url, 'producer')
  const store = createStore({ redis, service: options.service, virtualTime: () => clock.now() })
  const replicas = new Set<Trigger>()
  const each = async (act: (trigger: Trigger) => Promise<unknown>) => {
    for (const trigger of replicas) await act(trigger)
  }
  const fleet: Fleet = {
    clock,
    store,
    redis,
    async join(id, jobs, extra = {}) {
      const trigger = createTrigger({
        service: options.service,
        jobs,
        redis: options.url,
        id,
        clock,
        time: 'clock',
        random: () => 0.5,
        logger: pino({ level: 'silent' }),
        ...extra,
      })
      await trigger.prepare()
      replicas.add(trigger)
      return trigger
    },
    async leave(trigger) {
      replicas.delete(trigger)
      await trigger.stop()
    },
    async advance(byMs, stepMs = 1_000) {
      const end = clock.now() + byMs
      while (clock.now() < end) {
        const before = clock.now()
        clock.set(Math.min(end, before + stepMs))
        await fleet.tick()
        if (Math.floor(clock.now() / SWEEP_MS) > Math.floor(before / SWEEP_MS)) await fleet.sweep()
      }
    },
    tick: () => each((trigger) => trigger.tick()),
    async sweep() {
      await each((trigger) => trigger.beat())
      await each((trigger) => trigger.sweep())
    },
    slots: async (job) => (await listSlots(store, job, { limit: 10_000 })).toReversed(),
    async close() {
      for (const trigger of replicas) await fleet.leave(trigger)
      redis.disconnect()
    },
  }
  return fleet
}
