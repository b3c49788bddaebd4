import type { EffectLine } from './effect-line.ts'

/** What the receiver's log says of the effects of one run. */
export interface EffectTally {
  /** Entities with at least one accepted effect. */
  readonly entities: ReadonlySet<string>
  /**
   * Effects accepted beyond the first of their kind: under one idempotency key, or for one entity of the run under
   * another key. The second would hide from a count by key: a key that changes between attempts is as good as none.
   */
  readonly duplicates: number
  /** Calls turned away because their key was known. */
  readonly repeats: number
  /** Calls under a known key with another body. */
  readonly conflicts: number
  /** Calls that the receiver failed on purpose. */
  readonly refused: number
  /** The most calls, of whatever answer, under one key. */
  readonly mostCallsPerKey: number
}

/** Counts the effects of one run, from the log alone: what the receiver held in memory plays no part. */
export function tallyEffects(lines: readonly EffectLine[], slot: string): EffectTally {
  const keys = new Set<string>()
  const entities = new Set<string>()
  const calls = new Map<string, number>()
  const counts = { accepted: 0, duplicates: 0, repeat: 0, conflict: 0, refused: 0, start: 0 }
  for (const line of lines) {
    if (line.slot !== slot || line.kind === 'start') continue
    counts[line.kind] += 1
    calls.set(line.key, (calls.get(line.key) ?? 0) + 1)
    if (line.kind !== 'accepted') continue
    if (keys.has(line.key) || entities.has(line.entity)) counts.duplicates += 1
    keys.add(line.key)
    entities.add(line.entity)
  }
  return {
    entities,
    duplicates: counts.duplicates,
    repeats: counts.repeat,
    conflicts: counts.conflict,
    refused: counts.refused,
    mostCallsPerKey: Math.max(0, ...new Set(calls.values())),
  }
}

/** How often each of these slots was started. A slot that never was counts 0. */
export function countStarts(lines: readonly EffectLine[], slots: readonly string[]): ReadonlyMap<string, number> {
  const starts = new Map(slots.map((slot) => [slot, 0]))
  for (const { kind, slot } of lines) {
    const before = starts.get(slot)
    if (kind === 'start' && before !== undefined) starts.set(slot, before + 1)
  }
  return starts
}
