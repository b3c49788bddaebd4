import { listOverdue, listPresence, type Presences, type ServiceAccess } from '@cronce/operations'
import { countDeadLetters, listJobNames, oldestDeadLetterAt, readTime, type Store } from '@cronce/store'
import { MOST_JOBS, OTHER_JOBS } from '../job-labels.ts'
import type { Metrics } from '../metric.ts'
import { readJobInto } from './read-job.ts'
import type { SERVICE_METRICS } from './service-metrics.ts'

/** Jobs that are read together. */
const BATCH = 50

/** Reads a service into its gauges. */
export async function readService(
  { store, enqueuer }: ServiceAccess,
  metrics: Metrics<typeof SERVICE_METRICS>,
): Promise<void> {
  const all = (await listJobNames(store)).toSorted()
  const shown = new Set(all.slice(0, MOST_JOBS))
  const labelOf = (job: string) => (shown.has(job) ? job : OTHER_JOBS)
  const [now, overdue, presence] = await Promise.all([readTime(store), listOverdue(store), listPresence(store)])
  const queues = new Set<string>()
  for (const batch of inBatches([...shown])) {
    const found = await Promise.all(batch.map((job) => readJobInto(metrics, store, job)))
    for (const queue of found) if (queue !== undefined) queues.add(queue)
  }
  const late = new Map<string, number>()
  for (const { job, kind, count } of overdue) {
    const key = JSON.stringify([labelOf(job), kind])
    late.set(key, (late.get(key) ?? 0) + count)
  }
  for (const job of new Set(all.map(labelOf))) {
    for (const kind of ['start', 'finish'] as const)
      metrics.cronce_overdue_slots(late.get(JSON.stringify([job, kind])) ?? 0, { job_name: job, kind })
  }
  await readLetters(store, metrics, { jobs: all, labelOf, now })
  tellPresence(metrics, presence)
  for (const queue of queues) {
    const serving = presence.workers.filter((worker) => worker.state === 'live' && Object.hasOwn(worker.queues, queue))
    metrics.cronce_queue_workers(serving.length, { queue })
    for (const [state, count] of Object.entries(await enqueuer.depth(queue)))
      metrics.cronce_queue_depth(count, { queue, state })
  }
}

async function readLetters(
  store: Store,
  metrics: Metrics<typeof SERVICE_METRICS>,
  { jobs, labelOf, now }: { jobs: readonly string[]; labelOf: (job: string) => string; now: number },
): Promise<void> {
  const letters = new Map<string, { count: number; oldestAt: number }>()
  for (const batch of inBatches(jobs)) {
    const found = await Promise.all(
      batch.map(async (job) => {
        const [count, oldestAt] = await Promise.all([countDeadLetters(store, job), oldestDeadLetterAt(store, job)])
        return { label: labelOf(job), count, oldestAt: oldestAt ?? now }
      }),
    )
    for (const { label, count, oldestAt } of found) {
      const known = letters.get(label)
      letters.set(label, { count: count + (known?.count ?? 0), oldestAt: Math.min(oldestAt, known?.oldestAt ?? now) })
    }
  }
  for (const [job, { count, oldestAt }] of letters) {
    metrics.cronce_dead_letters(count, { job_name: job })
    metrics.cronce_dead_letter_oldest_age_seconds(Math.max(0, now - oldestAt) / 1_000, { job_name: job })
  }
}

function tellPresence(metrics: Metrics<typeof SERVICE_METRICS>, { replicas, workers }: Presences): void {
  for (const [role, processes] of [
    ['replica', replicas],
    ['worker', workers],
  ] as const) {
    const counts = new Map<string, number>()
    for (const { release, state } of processes) {
      if (state === 'live') counts.set(release, (counts.get(release) ?? 0) + 1)
    }
    for (const [release, count] of counts) metrics.cronce_live_processes(count, { role, release })
  }
  const skews = replicas.filter(({ state }) => state === 'live').map(({ skewMs }) => Math.abs(skewMs))
  metrics.cronce_clock_skew_seconds(Math.max(0, ...skews) / 1_000, {})
}

function* inBatches(jobs: readonly string[]): Generator<readonly string[]> {
  for (let start = 0; start < jobs.length; start += BATCH) yield jobs.slice(start, start + BATCH)
}
