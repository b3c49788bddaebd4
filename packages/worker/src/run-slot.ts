import type { SlotKey } from '@cronce/core'

/** The slot that a handler runs for. Instants in epoch milliseconds. */
export interface RunSlot {
  readonly key: SlotKey
  readonly job: string
  /** The nominal instant: the same at every attempt, whenever it really runs. */
  readonly at: number
  /** The nominal instant plus the job's spread. */
  readonly effectiveAt: number
}
