import { type Cause, formatSlotKey, isEnded, lastSlot, type RunState, type Schedule, type SlotKey } from '@cronce/core'
import type { EntityCounts, LedgerEntry, RecordedGap } from '@cronce/store'

/** What a list shows of a run, or of a span of slots that did not run for one reason. Instants in epoch ms. */
export interface RunRow {
  readonly slot: SlotKey
  readonly job: string
  readonly at: number
  readonly effectiveAt: number
  readonly state: RunState
  /** Undefined for what never was a run. */
  readonly cause: Cause | undefined
  /** Why it did not run, or did not succeed. */
  readonly reason: string | undefined
  readonly latenessMs: number | undefined
  readonly durationMs: number | undefined
  readonly entities: EntityCounts
  /** Who claimed it. */
  readonly by: string | undefined
  readonly release: string | undefined
  readonly why: string | undefined
  /** Set where the row stands for a span of slots; `slot` is the last of them. */
  readonly gap: { readonly fromAt: number; readonly toAt: number; readonly count: number } | undefined
}

const NO_ENTITIES: EntityCounts = { planned: 0, done: 0, dead: 0, abandoned: 0, skipped: 0, duplicates: 0 }

export function rowOfRun(entry: LedgerEntry): RunRow {
  const { slot, job, at, effectiveAt, state, cause, reason, latenessMs, entities, release, why } = entry
  const { startedAt, finishedAt } = entry
  const hasEnded = isEnded(state) && startedAt !== undefined && finishedAt !== undefined
  const durationMs = hasEnded ? Math.max(0, finishedAt - startedAt) : undefined
  const by = entry.claimedBy
  return {
    slot,
    job,
    at,
    effectiveAt,
    state,
    cause,
    reason,
    latenessMs,
    durationMs,
    entities,
    by,
    release,
    why,
    gap: undefined,
  }
}

/** `schedule`: the one in force, to name the last slot of the gap; undefined where it cannot be read. */
export function rowOfGap(job: string, gap: RecordedGap, schedule: Schedule | undefined): RunRow {
  const { fromAt, toAt, count, state, reason, by } = gap
  const last = schedule === undefined ? undefined : lastSlot(schedule, toAt)
  const at = last !== undefined && last > fromAt ? last : toAt
  return {
    slot: formatSlotKey({ job, at }),
    job,
    at,
    effectiveAt: at,
    state,
    cause: undefined,
    reason,
    latenessMs: undefined,
    durationMs: undefined,
    entities: { ...NO_ENTITIES },
    by,
    release: undefined,
    why: undefined,
    gap: { fromAt, toAt, count },
  }
}
