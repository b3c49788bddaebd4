import { RUN_STATES } from '@cronce/core'
import { findJob, listOverdue, listPresence, listRuns, type ServiceAccess } from '@cronce/operations'
import { listJobNames, readTime } from '@cronce/store'
import { Gauge, Registry } from 'prom-client'
import { readLetterFigures } from './schedules.ts'

/** Runs of each job that are counted by state. */
const RECENT = 40

/** Jobs that are reported; each costs as many reads as runs are counted. */
const MOST_JOBS = 500

/**
 * What Redis knows of the whole service, read at each scrape, so that every console tells the same: gauges, no counters of this
 * process. In the text format of Prometheus.
 */
export async function metricsText(access: ServiceAccess): Promise<{ type: string; text: string }> {
  const { store, enqueuer } = access
  const registry = new Registry()
  const gauge = (name: string, help: string, labels: readonly string[] = []) => {
    const labelNames = ['service', ...labels]
    const metric = new Gauge({ name, help, labelNames, registers: [registry] })
    return (value: number, of: Readonly<Record<string, string>> = {}) =>
      metric.set({ service: store.service, ...of }, value)
  }
  const overdue = gauge('cronce_overdue_slots', 'Slots beyond their tolerance, by job and by what is overdue', [
    'job',
    'kind',
  ])
  const runs = gauge('cronce_recent_runs', `The newest ${RECENT} ledger rows of each job, by state`, ['job', 'state'])
  const letters = gauge('cronce_dead_letters', 'Open dead letters')
  const oldest = gauge(
    'cronce_dead_letter_oldest_age_seconds',
    'Age of the oldest of the newest 1000 open dead letters',
  )
  const processes = gauge('cronce_live_processes', 'Processes heard of lately', ['role'])
  const skew = gauge('cronce_clock_skew_seconds', 'The largest difference of a live replica clock to that of Redis')
  const depth = gauge('cronce_queue_depth', 'Tasks on a queue', ['queue', 'state'])

  const names = (await listJobNames(store)).toSorted().slice(0, MOST_JOBS)
  const [now, late, presence, dead, jobs] = await Promise.all([
    readTime(store),
    listOverdue(store),
    listPresence(store),
    readLetterFigures(store),
    Promise.all(names.map(async (name) => ({ name, settings: (await findJob(store, name))?.settings }))),
  ])
  for (const name of names) {
    for (const kind of ['start', 'finish'] as const) {
      const slots = late.filter((row) => row.job === name && row.kind === kind)
      overdue(
        slots.reduce((sum, { count }) => sum + count, 0),
        { job: name, kind },
      )
    }
    const { rows } = await listRuns(store, { job: name, limit: RECENT })
    for (const state of Object.keys(RUN_STATES)) {
      runs(rows.filter((row) => row.state === state).length, { job: name, state })
    }
  }
  letters(dead.deadLetters)
  oldest(dead.oldestDeadAt === null ? 0 : Math.max(0, now - dead.oldestDeadAt) / 1_000)
  for (const role of ['replicas', 'workers'] as const) {
    processes(presence[role].filter(({ state }) => state === 'live').length, { role: role.slice(0, -1) })
  }
  const live = presence.replicas.filter(({ state }) => state === 'live')
  skew(Math.max(0, ...live.map(({ skewMs }) => Math.abs(skewMs))) / 1_000)
  for (const queue of new Set(jobs.flatMap(({ settings }) => settings?.queue ?? []))) {
    for (const [state, count] of Object.entries(await enqueuer.depth(queue))) depth(count, { queue, state })
  }
  return { type: registry.contentType, text: await registry.metrics() }
}
