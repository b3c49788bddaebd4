import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

/** What a metric is: its kind, what it says, and what it tells apart beside the service. */
export interface MetricDefinition {
  readonly kind: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly labels: readonly string[]
  /** Of a histogram: the upper bounds of its buckets, seconds. */
  readonly buckets?: readonly number[]
}

export type MetricDefinitions = Readonly<Record<string, MetricDefinition>>

/** Writes a value: adds to a counter, sets a gauge, observes in a histogram. */
export type Metric<Label extends string> = (value: number, labels: Readonly<Record<Label, string>>) => void

export type Metrics<D extends MetricDefinitions> = { readonly [Name in keyof D]: Metric<D[Name]['labels'][number]> }

/** What a gauge without labels shows at a scrape; undefined: nothing yet. */
export type GaugeReaders<D extends MetricDefinitions> = { readonly [Name in keyof D]?: () => number | undefined }

/** Where metrics go. */
export interface MetricSink {
  readonly registry: Registry
  /** The value of the label `service_name` of each of them. */
  readonly service: string
}

/**
 * The label of the service. Not `service`, as that of a job is not `job`: Prometheus gives targets labels of these names, and
 * would rename ours.
 */
const SERVICE_LABEL = 'service_name'

/** Makes these metrics in a registry, or finds them there. */
export function makeMetrics<const D extends MetricDefinitions>(
  sink: MetricSink,
  definitions: D,
  readers: GaugeReaders<D> = {},
): Metrics<D> {
  const made = Object.entries(definitions).map(([name, definition]) => {
    return [name, makeMetric(sink, { name, read: readers[name], ...definition })]
  })
  return Object.fromEntries(made) as Metrics<D>
}

interface NamedMetric extends MetricDefinition {
  readonly name: string
  readonly read: (() => number | undefined) | undefined
}

function makeMetric({ registry, service }: MetricSink, definition: NamedMetric): Metric<string> {
  const { name, kind, help, labels, buckets, read } = definition
  const known = registry.getSingleMetric(name)
  const configuration = { name, help, labelNames: [SERVICE_LABEL, ...labels], registers: [registry] }
  const own = (values: Readonly<Record<string, string>>) => ({ [SERVICE_LABEL]: service, ...values })
  switch (kind) {
    case 'counter': {
      const counter = known instanceof Counter ? known : new Counter(configuration)
      return (value, values) => counter.inc(own(values), value)
    }
    case 'gauge': {
      const collect = (): void => {
        const value = read?.()
        if (value !== undefined) gauge.set(own({}), value)
      }
      const gauge: Gauge = known instanceof Gauge ? known : new Gauge({ ...configuration, collect })
      return (value, values) => gauge.set(own(values), value)
    }
    case 'histogram': {
      const histogram =
        known instanceof Histogram
          ? known
          : new Histogram({ ...configuration, ...(buckets === undefined ? {} : { buckets: [...buckets] }) })
      return (value, values) => histogram.observe(own(values), value)
    }
  }
}
