import type { Cause, RunState } from '@cronce/core'
import type { DeadLetter, EntityCounts } from '@cronce/store'
import type { Logger } from 'pino'
import type { RunSlot } from './run-slot.ts'

/** How a run ended: what `done` is given. Instants in epoch milliseconds. */
export interface RunSummary {
  readonly slot: RunSlot
  readonly cause: Cause
  readonly state: RunState
  readonly counts: EntityCounts
  readonly startedAt: number | undefined
  readonly finishedAt: number | undefined
  /** Counts outcomes of this run: a redrive that changes the sum makes a newer one. */
  readonly version: number
  /** The run's dead letters, newest first, page by page. Default: the first 100. */
  deadLetters(page?: { readonly offset?: number; readonly limit?: number }): Promise<DeadLetter[]>
}

/** What `done` runs with. */
export interface DoneContext {
  /** From 1. */
  readonly attempt: number
  readonly signal: AbortSignal
  readonly log: Logger
  /** Text for another system's idempotency key: equal at every attempt of one outcome. */
  readonly idempotencyKey: (effect: string) => string
}
