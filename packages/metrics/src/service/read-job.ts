import { RUN_STATES } from '@cronce/core'
import { findJob, listRuns, type RunRow } from '@cronce/operations'
import type { Store } from '@cronce/store'
import { readJobFigures } from '@cronce/watchdog'
import { dropReason } from '../drop-reason.ts'
import type { Metrics } from '../metric.ts'
import type { SERVICE_METRICS } from './service-metrics.ts'

/** Ledger rows of each job that are looked at. */
const RECENT = 40

/** Reads one job into the gauges; answers its queue, undefined where it cannot be read. */
export async function readJobInto(
  metrics: Metrics<typeof SERVICE_METRICS>,
  store: Store,
  job: string,
): Promise<string | undefined> {
  const [known, figures, runs] = await Promise.all([
    findJob(store, job),
    readJobFigures(store, job),
    listRuns(store, { job, limit: RECENT }),
  ])
  const labels = { job_name: job }
  for (const [state, count] of byState(runs.rows)) metrics.cronce_recent_runs(count, { ...labels, state })
  for (const { count, ...dropped } of drops(runs.rows)) metrics.cronce_recent_drops(count, { ...labels, ...dropped })
  const success = runs.rows.find(({ state }) => state === 'succeeded')
  if (success !== undefined) metrics.cronce_last_success_timestamp_seconds(success.at / 1_000, labels)
  if (figures !== undefined) metrics.cronce_unended_slots(figures.unended, labels)
  if (figures?.durationShare !== undefined) metrics.cronce_duration_interval_ratio(figures.durationShare, labels)
  metrics.cronce_paused(known?.stored.pause === undefined ? 0 : 1, labels)
  return known?.settings?.queue
}

/** How many rows are in each state, those that none is in included. */
function byState(rows: readonly RunRow[]): [string, number][] {
  return Object.keys(RUN_STATES).map((state) => [state, rows.filter((row) => row.state === state).length])
}

function drops(rows: readonly RunRow[]): { state: string; reason: string; count: number }[] {
  const found = new Map<string, { state: string; reason: string; count: number }>()
  for (const { state, reason: text = '', gap } of rows) {
    if (RUN_STATES[state] !== 'dropped') continue
    const reason = dropReason(text)
    const key = `${state} ${reason}`
    found.set(key, { state, reason, count: (gap?.count ?? 1) + (found.get(key)?.count ?? 0) })
  }
  return [...found.values()]
}
