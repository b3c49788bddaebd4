import type { Store } from '@cronce/store'
import { type Overdue, scheduleHealth } from '@cronce/watchdog'

/** A slot that should have started, or ended, by now; `count` has those of its job that are overdue likewise, this one the oldest. */
export type OverdueRow = Overdue

/** What is overdue, as the watchdog judges it. Nothing is overdue of a job that is paused, or that this release cannot read. */
export async function listOverdue(store: Store): Promise<OverdueRow[]> {
  const { overdue } = await scheduleHealth(store)
  return oncePerCondition(overdue).toSorted((a, b) => b.sinceMs - a.sinceMs || (a.slot < b.slot ? -1 : 1))
}

/** The oldest slot of each job, kind and reason stands for those after it: a job of every second is one row, not hundreds. */
function oncePerCondition(rows: readonly OverdueRow[]): OverdueRow[] {
  const conditions = new Map<string, OverdueRow>()
  for (const row of rows) {
    const condition = JSON.stringify([row.job, row.kind, row.reason])
    const known = conditions.get(condition)
    const oldest = known === undefined || row.sinceMs > known.sinceMs ? row : known
    conditions.set(condition, { ...oldest, count: row.count + (known?.count ?? 0) })
  }
  return [...conditions.values()]
}
