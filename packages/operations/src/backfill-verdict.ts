import { RUN_STATES, type RunState } from '@cronce/core'

/** What the ledger has about one slot that a backfill may be for. Instants in epoch ms. */
export interface SlotFacts {
  readonly at: number
  readonly effectiveAt: number
  /** Undefined: the ledger has no record of its own. */
  readonly record: { readonly state: RunState; readonly startedAt: number | undefined } | undefined
  /** What the gap says that holds it. */
  readonly gap: 'missed' | 'skipped' | 'abandoned' | undefined
  /** A backfill took it before the job was registered at all, and its record may be folded by now. */
  readonly takenBefore: boolean
  readonly now: number
  readonly watermarkAt: number
  readonly registeredAt: number
}

export type BackfillVerdict =
  /** Missed, skipped, or older than the job. */
  | 'to-run'
  /** Ended, or folded into the sums of its day. */
  | 'done'
  /** A replica's: on the queue, running, or about to be. */
  | 'under-way'
  | 'not due yet'
  /** S3: it may have run, and is repeated only by its name. */
  | 'abandoned when the store lost writes: it may have run'
  | 'started and cancelled: what it had done by then is not known'

/** What a backfill does about a slot. The script that takes it decides the same once more (T11). Pure. */
export function judgeSlot(facts: SlotFacts): BackfillVerdict {
  const { at, effectiveAt, record, gap, now, watermarkAt, registeredAt, takenBefore } = facts
  if (record !== undefined) {
    const phase = RUN_STATES[record.state]
    if (phase === 'ended') return 'done'
    if (phase !== 'dropped') return 'under-way'
    return record.startedAt === undefined ? 'to-run' : 'started and cancelled: what it had done by then is not known'
  }
  if (effectiveAt > now) return 'not due yet'
  if (takenBefore) return 'done'
  if (gap === 'abandoned') return 'abandoned when the store lost writes: it may have run'
  if (gap !== undefined || at <= registeredAt) return 'to-run'
  return at > watermarkAt ? 'under-way' : 'done'
}
