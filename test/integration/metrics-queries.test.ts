import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { BUILD_METRICS, PROCESS_METRICS, TRIGGER_METRICS, WORKER_METRICS } from '@cronce/metrics'
import { SERVICE_METRICS } from '@cronce/metrics/service'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parse } from 'yaml'
import { type ExposedMetric, readExposition } from '../support/exposition.ts'
import {
  describeNeeding,
  type RedisServer,
  ROOT,
  type SpawnedProcess,
  spawnProcess,
  startRedis,
  waitUntil,
} from '../support/index.ts'
import { readQuery } from '../support/promql.ts'
import { type ScriptedReceiver, startReceiver } from '../support/scripted-receiver.ts'

const FOLDER = join(ROOT, 'packages/metrics')

/** What is declared, with its labels: the page of metrics is tested equal to it. */
const DECLARED: Readonly<Record<string, { readonly labels: readonly string[] }>> = {
  ...BUILD_METRICS,
  ...PROCESS_METRICS,
  ...TRIGGER_METRICS,
  ...WORKER_METRICS,
  ...SERVICE_METRICS,
}

/** Metrics that nothing happens for here: they are exposed without a sample, and their labels are those declared. */
const WITHOUT_SAMPLES = new Set([
  ...['cronce_adds_failed_total', 'cronce_slots_admitted_total', 'cronce_slots_cut_total', 'cronce_recent_drops'],
  ...['cronce_store_lost_writes_total', 'cronce_jobs_passed_over_total', 'cronce_heartbeats_failed_total'],
  ...['cronce_chunk_crashes_total', 'cronce_chunks_fenced_off_total', 'cronce_chunks_handed_back_total'],
  ...['cronce_receipts_lost_total', 'cronce_plan_failures_total', 'cronce_done_failures_total'],
  ...['cronce_tasks_handed_back_total', 'cronce_queue_troubles_total', 'cronce_receipt_hits_total'],
  ...['cronce_tasks_readded_total', 'cronce_entity_retries_total', 'cronce_slots_held_up_total'],
])

/** Labels that Prometheus gives to what it scrapes. */
const TARGET_LABELS = ['instance']

interface NamedQuery {
  readonly of: string
  readonly query: string
  /** Labels that are shown with its answer. */
  readonly shown: readonly string[]
}

interface Dashboard {
  readonly panels: readonly {
    readonly title: string
    readonly targets?: readonly { expr: string; legendFormat: string }[]
  }[]
  readonly annotations: { readonly list: readonly { name: string; expr: string; titleFormat: string }[] }
  readonly templating: { readonly list: readonly { name: string; definition?: string }[] }
}

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly { alert: string; expr: string; annotations: Readonly<Record<string, string>> }[]
  }[]
}

const labelsIn = (text: string, pattern: RegExp) => Array.from(text.matchAll(pattern), ([, label = '']) => label)

/** As Grafana fills them in. */
const filled = (query: string) => query.replaceAll('$__rate_interval', '5m').replaceAll(/\$(service|job)\b/g, '.*')

const dashboard = JSON.parse(readFileSync(join(FOLDER, 'dashboards/cronce.json'), 'utf8')) as Dashboard
const rules = parse(readFileSync(join(FOLDER, 'alerts/cronce.rules.yml'), 'utf8')) as Rules

const QUERIES: readonly NamedQuery[] = [
  ...dashboard.panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr, legendFormat }) => ({
      of: `panel ${title}`,
      query: filled(expr),
      shown: labelsIn(legendFormat, /\{\{(\w+)\}\}/g),
    })),
  ),
  ...dashboard.annotations.list.map(({ name, expr, titleFormat }) => ({
    of: `annotation ${name}`,
    query: filled(expr),
    shown: labelsIn(titleFormat, /\{\{(\w+)\}\}/g),
  })),
  ...rules.groups.flatMap(({ rules: list }) =>
    list.map(({ alert, expr, annotations }) => ({
      of: `rule ${alert}`,
      query: expr,
      shown: labelsIn(Object.values(annotations).join(), /\$labels\.(\w+)/g),
    })),
  ),
]

describeNeeding(['redis-server'], 'the metrics of the apps', () => {
  let redis: RedisServer
  let receiver: ScriptedReceiver
  const processes: SpawnedProcess[] = []
  const urls: string[] = []
  let exposed: ReadonlyMap<string, ExposedMetric>

  async function start(app: string, env: Record<string, string> = {}): Promise<void> {
    const process = await spawnProcess({
      file: `apps/${app}/src/main.ts`,
      env: { REDIS_URL: redis.url, CRONCE_RELEASE: 'v7', ...env },
    })
    processes.push(process)
    const line = await process.waitForLine(({ json }) => json?.['msg'] === 'listening', { timeoutMs: 30_000 })
    urls.push(String(line.json?.['url']))
  }

  async function scrape(url: string): Promise<string> {
    const response = await fetch(new URL('/metrics', url))
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      expect.stringMatching(/^text\/plain; version=0\.0\.4/),
    ])
    return await response.text()
  }

  async function scrapeAll(): Promise<ReadonlyMap<string, ExposedMetric>> {
    const all = new Map<string, ExposedMetric>()
    for (const text of await Promise.all(urls.map(scrape))) {
      for (const [name, metric] of readExposition(text)) {
        all.set(name, { ...metric, samples: [...(all.get(name)?.samples ?? []), ...metric.samples] })
      }
    }
    return all
  }

  const sum = (name: string, labels: Readonly<Record<string, string>> = {}) =>
    (exposed.get(name)?.samples ?? [])
      .filter((sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value))
      .reduce((total, { value }) => total + value, 0)

  beforeAll(async () => {
    redis = await startRedis()
    receiver = await startReceiver()
    // Starts are told first: the second request is an effect.
    receiver.script(200, 402)
    const timing = { CRONCE_SWEEP_EVERY: '500ms', CRONCE_WATCH_EVERY: '1s' }
    await Promise.all([
      start('service', timing),
      start('service', timing),
      start('worker', { ...timing, CRONCE_RECEIVER_URL: receiver.url }),
      start('console'),
    ])
    // Settlement is served by nobody: its first slot is overdue after ten seconds.
    exposed = await waitUntil(
      async () => {
        exposed = await scrapeAll()
        const isSeen =
          sum('cronce_overdue_slots', { job_name: 'settlement' }) > 0 && sum('cronce_duration_interval_ratio') > 0
        return isSeen && sum('cronce_alarms_total') > 0 ? exposed : undefined
      },
      { message: 'an overdue slot, an alarm, and runs', timeoutMs: 100_000 },
    )
  }, 150_000)
  afterAll(async () => {
    await Promise.all(processes.map((process) => process.kill()))
    await receiver.close()
    await redis.stop()
  })

  /** The labels of a metric: those of its samples, and only without any those declared. */
  const labelsOf = (name: string): readonly string[] => {
    const metric = exposed.get(name)
    const sampled = (metric?.samples ?? []).flatMap(({ labels }) => Object.keys(labels))
    return sampled.length > 0 ? [...new Set(sampled)] : ['service_name', ...(DECLARED[name]?.labels ?? [])]
  }

  /** The metric behind the name in a query: that of a histogram's buckets is the histogram. */
  const metricOf = (name: string) => {
    const whole = name.replace(/_(bucket|sum|count)$/, '')
    return exposed.get(whole)?.kind === 'histogram' ? whole : name
  }

  it.each(QUERIES)('$of asks in PromQL for what the apps expose', ({ query, shown }) => {
    const { faults, selectors, groupings } = readQuery(query)
    expect(faults).toEqual([])
    expect(selectors.length).toBeGreaterThan(0)
    for (const { metric, labels } of selectors) {
      expect([...exposed.keys()]).toContain(metricOf(metric))
      expect(labelsOf(metricOf(metric))).toEqual(expect.arrayContaining([...labels]))
    }
    for (const { label, metrics } of groupings) {
      for (const metric of metrics) expect([...labelsOf(metricOf(metric)), ...TARGET_LABELS]).toContain(label)
    }
    const kept = groupings.map(({ label }) => label)
    const answered =
      kept.length > 0 ? kept : selectors.flatMap(({ metric }) => [...labelsOf(metricOf(metric)), ...TARGET_LABELS])
    expect(answered).toEqual(expect.arrayContaining([...shown]))
  })

  it('are asked for by the dashboard or a rule, every one of them', () => {
    const asked = new Set(
      QUERIES.flatMap(({ query }) => readQuery(query).selectors.map(({ metric }) => metricOf(metric))),
    )
    expect(Object.keys(DECLARED).filter((name) => !asked.has(name))).toEqual([])
  })

  it('are those declared, with the labels declared, and no others', () => {
    const own = [...exposed.keys()].filter((name) => name.startsWith('cronce_'))
    expect(own.toSorted()).toEqual(Object.keys(DECLARED).toSorted())
    for (const name of own) {
      const samples = exposed.get(name)?.samples ?? []
      if (samples.length === 0) expect([...WITHOUT_SAMPLES]).toContain(name)
      const labels = ['service_name', ...(DECLARED[name]?.labels ?? [])].toSorted()
      for (const sample of samples)
        expect(
          Object.keys(sample.labels)
            .filter((label) => label !== 'le')
            .toSorted(),
          name,
        ).toEqual(labels)
    }
  })

  it('have no slot, no entity and no address in a label', () => {
    for (const { name, samples } of exposed.values()) {
      if (!name.startsWith('cronce_')) continue
      for (const { labels } of samples) {
        for (const value of Object.values(labels)) expect(value).toMatch(/^[\w .()+-]*$/)
        expect(Object.values(labels).join(' ')).not.toMatch(/\d{8}T|most-used|127\.0/)
      }
    }
  })

  it('add up: replicas try each slot and one of them wins it, and what was started ends once', () => {
    const job = { job_name: 'cache-refresh' }
    const [wins, attempts] = [sum('cronce_claim_wins_total', job), sum('cronce_claim_attempts_total', job)]
    expect(wins).toBeGreaterThan(5)
    expect(attempts).toBeGreaterThan(wins)
    expect(attempts).toBeLessThanOrEqual(2 * wins + 2)
    const ended = sum('cronce_runs_ended_total', job)
    expect(ended).toBeGreaterThan(5)
    expect(ended).toBeLessThanOrEqual(sum('cronce_runs_started_total', job))
    expect(sum('cronce_runs_ended_total', { ...job, outcome: 'failed' })).toBe(sum('cronce_dead_letters', job))
    expect(sum('cronce_entities_total', { ...job, outcome: 'dead' })).toBe(sum('cronce_dead_letters', job))
    expect(sum('cronce_runs_ended_total', { job_name: 'settlement' })).toBe(0)
    expect(sum('cronce_live_processes', { role: 'replica', release: 'v7' })).toBe(2)
    expect(sum('cronce_build_info', { release: 'v7' })).toBe(4)
  })

  it('say of each loop when it last passed', () => {
    const passes = exposed.get('cronce_trigger_last_pass_timestamp_seconds')?.samples ?? []
    expect(passes).toHaveLength(2)
    // What is exposed may be as old as this test file has run since.
    for (const { value } of passes) expect(Math.abs(value - performance.timeOrigin / 1_000)).toBeLessThan(600)
  })
})

it.each([
  ['rate(cronce_runs_ended_total[5m]', 'no end'],
  ['sum by (job_name cronce_dead_letters', 'no bracket'],
])('a query that is none is noticed: %s (%s)', (query) => {
  expect(readQuery(query).faults).not.toEqual([])
})
