import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { DROP_REASONS } from './drop-reason.ts'
import { BUILD_METRICS, type MetricDefinition, PROCESS_METRICS, TRIGGER_METRICS, WORKER_METRICS } from './index.ts'
import { SERVICE_METRICS } from './service/index.ts'

const PAGE = readFileSync(new URL('../../../docs/metrics.md', import.meta.url), 'utf8')

const SECTIONS: Readonly<Record<string, Readonly<Record<string, MetricDefinition>>>> = {
  'Every process': BUILD_METRICS,
  'Replicas and workers': PROCESS_METRICS,
  Replicas: TRIGGER_METRICS,
  Workers: WORKER_METRICS,
  Service: SERVICE_METRICS,
}

it.each(Object.entries(SECTIONS))(
  'the page of metrics says of "%s" what the code has, and no more',
  (title, definitions) => {
    const section = PAGE.split(/^## /m).find((text) => text.startsWith(`${title}\n`)) ?? ''
    const written = [...section.matchAll(/^\| `(\w+)` \| (\w+) \| ([^|]*) ?\| (.*) \|$/gm)]
    const rows = Object.entries(definitions).map(([name, { kind, labels, help }]) => [
      name,
      kind,
      labels.join(', '),
      help,
    ])
    expect(written.map(([, name, kind, labels = '', help]) => [name, kind, labels.trim(), help])).toEqual(rows)
  },
)

it('the page of metrics names every reason', () => {
  for (const reason of Object.keys(DROP_REASONS)) expect(PAGE).toContain(`\`${reason}\``)
})

it('every metric says its unit, and no label is taken for one of Prometheus itself', () => {
  const all = Object.values(SECTIONS).flatMap((definitions) => Object.entries(definitions))
  for (const [name, { kind, labels, buckets = [] }] of all) {
    expect(name).toMatch(/^cronce_[a-z_]+$/)
    expect(name.endsWith('_total'), name).toBe(kind === 'counter')
    if (kind === 'histogram') expect(name).toMatch(/_seconds$/)
    expect(buckets).toEqual(buckets.toSorted((a, b) => a - b))
    for (const label of labels) expect(['job', 'instance', 'service', 'le']).not.toContain(label)
  }
})
