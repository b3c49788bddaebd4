import type { Clock, EventEmitter, Random } from '@cronce/core'
import type { Enqueuer } from '@cronce/queue'
import type { Executor, Store } from '@cronce/store'
import type { PostgresReceipts } from '@cronce/store/postgres'
import type { Logger } from 'pino'
import type { ChunkClosings } from './chunk-closings.ts'
import type { Handler } from './handler.ts'
import type { OpenSources } from './open-sources.ts'
import type { Shutdown } from './shutdown.ts'
import type { WorkerTiming } from './worker-timing.ts'

/** What the parts of one worker share. */
export interface WorkerContext {
  readonly executor: Executor
  readonly handlers: ReadonlyMap<string, Handler>
  /** On a connection that waits for Redis: what is done is written when it is back. */
  readonly store: Store
  /** Receipts, where they are in Postgres. */
  readonly postgres: PostgresReceipts | undefined
  readonly closings: ChunkClosings | undefined
  readonly enqueuer: Enqueuer
  /** Iterables of plans between two of their steps. */
  readonly sources: OpenSources
  readonly events: EventEmitter
  readonly log: Logger
  readonly clock: Clock
  readonly random: Random
  readonly timing: WorkerTiming
  readonly shutdown: Shutdown
  /** Text that no other call in this service gets: tokens of leases and holds. */
  readonly token: () => string
  /** Chunks that an outage made this process let go, by task id, and the token they were held under. */
  readonly interrupted: Map<string, string>
}
