import type { AlarmFacts } from '@cronce/core'
import type { AlarmEntry, RaisedAlarm } from '@cronce/store'

/** What a look found: what is the matter, and nothing of when it was raised. */
export type Condition = AlarmFacts

/** What changed between what is raised and what was found. */
export interface AlarmChange {
  readonly raised: readonly RaisedAlarm[]
  readonly entries: readonly Omit<AlarmEntry, 'id'>[]
}

/**
 * Raises what is new, clears what is over, and leaves the rest as it was raised: an alarm fires once per condition, however
 * its words change meanwhile.
 */
export function changeAlarms(
  before: readonly RaisedAlarm[],
  found: readonly Condition[],
  { by, now }: { by: string; now: number },
): AlarmChange {
  const known = new Map(before.map((alarm) => [alarm.key, alarm]))
  const present = new Set(found.map(({ key }) => key))
  const raised = found.map((condition) => known.get(condition.key) ?? { ...condition, raisedAt: now })
  const fresh = raised.filter(({ key }) => !known.has(key))
  const over = before.filter(({ key }) => !present.has(key))
  return {
    raised,
    entries: [
      ...over.map((alarm) => ({ ...alarm, event: 'cleared' as const, at: now, by })),
      ...fresh.map((alarm) => ({ ...alarm, event: 'raised' as const, at: now, by })),
    ],
  }
}
