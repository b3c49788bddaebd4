import { type Cause, RUN_STATES, type RunState, type SlotId, type SlotKey, slotKeyOf } from '@cronce/core'

/** One slot as the ledger has it. Instants in epoch ms; undefined where it has not happened. */
export interface LedgerEntry {
  readonly slot: SlotKey
  readonly job: string
  readonly id: SlotId
  readonly at: number
  readonly effectiveAt: number
  readonly state: RunState
  readonly cause: Cause
  /** Why it did not run, or did not succeed. */
  readonly reason: string | undefined
  readonly claimedBy: string | undefined
  readonly claimedAt: number | undefined
  readonly release: string | undefined
  readonly enqueuedAt: number | undefined
  readonly startedAt: number | undefined
  readonly startedBy: string | undefined
  readonly finishedAt: number | undefined
  readonly latenessMs: number | undefined
  readonly claims: number
  readonly starts: number
  readonly crashes: number
  readonly retries: number
  readonly entities: EntityCounts
  /** Outcomes so far: a redrive makes a newer one. */
  readonly version: number
  /** What an operator gave as the reason of a run by hand. */
  readonly why: string | undefined
  /** The trace from its claim to its chunks, 32 hexadecimal digits, where replicas trace. */
  readonly traceId: string | undefined
}

/** A run's sum. `planned` counts each entity once; the others are outcomes. */
export interface EntityCounts {
  readonly planned: number
  readonly done: number
  readonly dead: number
  readonly abandoned: number
  readonly skipped: number
  readonly duplicates: number
}

/** Reads the fields of a slot's record. */
export function readEntry(job: string, id: SlotId, fields: Readonly<Record<string, string>>): LedgerEntry {
  const number = (name: string) => (fields[name] === undefined ? undefined : Number(fields[name]))
  const count = (name: string) => Number(fields[name] ?? 0)
  const state = fields['state'] ?? ''
  return {
    slot: slotKeyOf({ job, id }),
    job,
    id,
    at: count('at'),
    effectiveAt: count('effective'),
    state: state in RUN_STATES ? (state as RunState) : 'missed',
    cause: (fields['cause'] ?? 'on-time') as Cause,
    reason: fields['reason'],
    claimedBy: fields['claimedBy'],
    claimedAt: number('claimedAt'),
    release: fields['release'],
    enqueuedAt: number('enqueuedAt'),
    startedAt: number('startedAt'),
    startedBy: fields['startedBy'],
    finishedAt: number('finishedAt'),
    latenessMs: number('latenessMs'),
    claims: count('claims'),
    starts: count('starts'),
    crashes: count('crashes'),
    retries: count('retries'),
    entities: {
      planned: count('planned'),
      done: count('done'),
      dead: count('dead'),
      abandoned: count('abandoned'),
      skipped: count('skipped'),
      duplicates: count('duplicates'),
    },
    version: count('version'),
    why: fields['why'],
    traceId: fields['trace'],
  }
}
