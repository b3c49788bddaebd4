import { readFileSync } from 'node:fs'
import { collectDefaultMetrics, Registry } from 'prom-client'
import { type MetricDefinitions, type MetricSink, makeMetrics } from './metric.ts'

/** What every process tells. */
export const BUILD_METRICS = {
  cronce_build_info: {
    kind: 'gauge',
    help: 'Always 1: which build this process is of. A change of `release` is a deploy',
    labels: ['version', 'release', 'node'],
  },
} as const satisfies MetricDefinitions

export interface MetricsOptions {
  /** The namespace of the jobs; the label `service_name` of every metric. */
  readonly service: string
  /** The release this image is of. Default: "unknown". */
  readonly release?: string
  /** Where they are registered. Default: a registry of their own, with prom-client's metrics of the process beside them. */
  readonly registry?: Registry
}

export interface CronceMetrics extends MetricSink {
  /** The media type of {@link text}. */
  readonly contentType: string
  /** All metrics of the registry, in the text format of Prometheus. */
  text(): Promise<string>
}

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }

/**
 * Makes the metrics of a process. It asks Redis nothing.
 *
 * @example
 * const metrics = createMetrics({ service: 'billing-api', release: 'v7' })
 * observeTrigger(trigger, metrics)
 * app.get('/metrics', async (_, reply) => reply.type(metrics.contentType).send(await metrics.text()))
 */
export function createMetrics({ service, release = 'unknown', registry: given }: MetricsOptions): CronceMetrics {
  const registry = given ?? new Registry()
  if (given === undefined) collectDefaultMetrics({ register: registry })
  const { cronce_build_info } = makeMetrics({ registry, service }, BUILD_METRICS)
  cronce_build_info(1, { version, release, node: process.version })
  return { registry, service, contentType: registry.contentType, text: () => registry.metrics() }
}
