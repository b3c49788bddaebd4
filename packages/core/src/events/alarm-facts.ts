import type { SlotKey } from '../slot/slot-key.ts'

/** What an alarm is about. */
export const ALARM_KINDS = {
  'overdue-start': 'a slot has not started by its effective instant plus `tolerance.start`',
  'overdue-finish': 'a run has not ended by its effective instant plus `tolerance.finish`',
  'duration-near-interval': 'the runs of a job take nearly as long as the time between its slots',
  'not-registered': 'no live replica carries a job',
  'queue-unserved': 'no live worker serves a queue, or has the handler of a job in the version that is asked for',
  'loop-stopped': 'no trigger is alive, or one whose process lives has stopped',
  'store-out-of-reach': 'slots are due and a trigger cannot reach Redis',
} as const satisfies Record<string, string>

export type AlarmKind = keyof typeof ALARM_KINDS

/** A condition that somebody should know of. Instants in epoch ms. */
export interface AlarmFacts {
  /** The same as long as the condition lasts: kind, and what it is about. */
  readonly key: string
  readonly kind: AlarmKind
  /** The job, where the condition is of one. */
  readonly job?: string
  /** The oldest slot it concerns, where it concerns slots. */
  readonly slot?: SlotKey
  /** Since when it holds. */
  readonly sinceAt: number
  /** In words: `no worker serves queue "finance"`. */
  readonly reason: string
}
