import { isEnded, isRecorded, type RunState } from '@cronce/core'
import type { EffectTally } from '../receiver/effect-tally.ts'
import type { AttemptCounts } from './attempt-book.ts'
import { percentile } from './percentile.ts'

/** What the ledger has of one slot of the window; no state where it has nothing. */
export interface WindowSlot {
  readonly slot: string
  readonly state: RunState | undefined
  readonly latenessMs: number | undefined
}

/** Everything that is counted at the end of a bounded run, each from its own source. */
export interface Evidence {
  readonly replicas: number
  readonly kills: number
  /** The slots of the window as the schedule gives them, with what the ledger has of each. */
  readonly window: readonly WindowSlot[]
  /** From the replicas' logs. */
  readonly attempts: AttemptCounts
  /** From the receiver's log: how often each slot's handler said that it starts. */
  readonly starts: ReadonlyMap<string, number>
  /** From the ledger: the one run of the report. */
  readonly report: {
    readonly state: RunState | undefined
    readonly planned: number
    readonly done: number
    readonly dead: number
  }
  /** From the receiver's log: the effects of that run. */
  readonly effects: EffectTally
}

/** The last line of a bounded run. */
export interface Summary {
  /** Slots of the window. */
  readonly slots: number
  /** Replicas that ran at once. */
  readonly replicas: number
  /** Distinct pairs of replica and slot. */
  readonly attempts: number
  /** Slots that the ledger has as run to an end and whose handler started. */
  readonly runs: number
  /** Attempts that found the slot taken. */
  readonly skips: number
  /** Starts of a slot's handler beyond its first. */
  readonly duplicateRuns: number
  /** Slots of which the ledger does not say what became of them. */
  readonly lostSlots: number
  /** From the effective instant to the start of the handler, ms; null where nothing ran. */
  readonly lateness: { readonly p50: number | null; readonly p99: number | null }
  readonly entities: number
  readonly entitiesDone: number
  readonly deadLetters: number
  readonly duplicateEffects: number
  readonly effectRepeats: number
  readonly kills: number
  /** Of a long report: its dead letters that were run again, and what its sum is since. */
  readonly redriven?: { readonly entities: number; readonly entitiesDone: number; readonly deadLetters: number }
}

export interface Verdict {
  readonly summary: Summary
  /** What was lost or doubled, in words; empty where nothing was. */
  readonly faults: readonly string[]
}

/** Puts the sources beside each other. Whatever one has and another lacks is a fault. */
export function judge(evidence: Evidence): Verdict {
  const { window, attempts, starts, report, effects } = evidence
  const lost = window.filter(({ state }) => state === undefined || !isRecorded(state))
  const ran = window.filter(({ slot, state }) => state !== undefined && isEnded(state) && (starts.get(slot) ?? 0) > 0)
  const silent = window.filter(({ slot, state }) => state === 'succeeded' && starts.get(slot) === 0)
  const twice = [...starts].filter(([, count]) => count > 1)
  const latenesses = window.flatMap(({ latenessMs }) => (latenessMs === undefined ? [] : [latenessMs]))
  const summary: Summary = {
    slots: window.length,
    replicas: evidence.replicas,
    attempts: attempts.attempts,
    runs: ran.length,
    skips: attempts.attempts - attempts.wins,
    duplicateRuns: twice.reduce((sum, [, count]) => sum + count - 1, 0),
    lostSlots: lost.length,
    lateness: { p50: percentile(latenesses, 50) ?? null, p99: percentile(latenesses, 99) ?? null },
    entities: report.planned,
    entitiesDone: report.done,
    deadLetters: report.dead,
    duplicateEffects: effects.duplicates,
    effectRepeats: effects.repeats,
    kills: evidence.kills,
  }
  const unaccounted = report.planned - report.done - report.dead
  const faults = [
    lost.length > 0 && `${lost.length} slots without a record: ${lost.map(({ slot }) => slot).join(', ')}`,
    silent.length > 0 &&
      `${silent.length} slots succeeded in the ledger and never started: ${silent.map(({ slot }) => slot).join(', ')}`,
    twice.length > 0 && `started more than once: ${twice.map(([slot]) => slot).join(', ')}`,
    (report.state === undefined || !isEnded(report.state)) && `the report did not end (${report.state ?? 'no record'})`,
    report.planned === 0 && 'the report planned no entity',
    unaccounted !== 0 &&
      `${report.planned} entities planned, ${report.done} done, ${report.dead} dead: ${unaccounted} unaccounted for`,
    effects.duplicates > 0 && `${effects.duplicates} effects were accepted twice`,
    effects.conflicts > 0 && `${effects.conflicts} calls came under a known key with another body`,
    effects.entities.size !== report.done &&
      `the ledger has ${report.done} entities done, the receiver the effects of ${effects.entities.size}`,
  ]
  return { summary, faults: faults.filter((fault) => fault !== false) }
}
