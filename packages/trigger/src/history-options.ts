import { type Duration, parseDuration } from '@cronce/core'
import { DEFAULT_HISTORY, type HistoryBounds } from '@cronce/store'

/** T12: how much of a job's ledger is kept. Every replica of a service should say the same: the shortest one folds. */
export interface HistoryOptions {
  /** Slots older than this fold into the sum of their day. Default 30 days. */
  readonly detail?: Duration
  /** At most this many slots of a job are kept in detail, and as many gaps. Default 1,000. */
  readonly slots?: number
  /** Daily sums, gaps and former definitions older than this many days are dropped. Default 400. */
  readonly days?: number
}

/** @throws CronceError CRONCE_DURATION_INVALID */
export function parseHistory({ detail, slots, days }: HistoryOptions = {}): HistoryBounds {
  return {
    detailMs: detail === undefined ? DEFAULT_HISTORY.detailMs : parseDuration(detail),
    detailSlots: slots ?? DEFAULT_HISTORY.detailSlots,
    days: days ?? DEFAULT_HISTORY.days,
  }
}
