import type { Clock, EventEmitter, JobSettings, Random } from '@cronce/core'
import type { Enqueuer, Telemetry } from '@cronce/queue'
import type { HistoryBounds, Store } from '@cronce/store'
import type { DueQueue } from './due-queue.ts'
import type { RedisClock } from './redis-clock.ts'
import type { TriggerTiming } from './trigger-timing.ts'
import type { WatchedJob } from './watched-job.ts'

/** What the parts of one trigger share. */
export interface TriggerContext {
  readonly replica: string
  readonly release: string
  readonly store: Store
  readonly enqueuer: Enqueuer
  /** Where claims begin traces; undefined: nothing is traced. */
  readonly telemetry: Telemetry | undefined
  readonly events: EventEmitter
  readonly clock: Clock
  readonly redisClock: RedisClock
  readonly random: Random
  readonly timing: TriggerTiming
  readonly history: HistoryBounds
  /** The definitions this image carries. */
  readonly carried: readonly JobSettings[]
  /** The jobs this replica fires, by name: whatever the store says, carried or not. */
  readonly jobs: Map<string, WatchedJob>
  /** The store's epoch as this replica knows it; empty before the first look. */
  readonly epoch: { value: string }
  readonly freshEpoch: () => string
  /** When each of them is due here, Redis's time. */
  readonly due: DueQueue
}
