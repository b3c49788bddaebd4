import type { SafetyFinding } from '@cronce/store'

/** Something that is wrong, or unwise, and what to do about it. */
export interface Finding {
  /** `error`: can lose, double or hold up a run. */
  readonly level: 'error' | 'warning'
  readonly name: SafetyFinding['name'] | 'skew' | 'tzdata' | 'releases' | 'versions' | 'replicas' | 'queue' | 'orphans'
  readonly text: string
  readonly fix: string
}
