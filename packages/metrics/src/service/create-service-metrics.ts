import type { ServiceAccess } from '@cronce/operations'
import { Registry } from 'prom-client'
import { makeMetrics } from '../metric.ts'
import { readService } from './read-service.ts'
import { SERVICE_METRICS } from './service-metrics.ts'

/** The metrics of a whole service. */
export interface ServiceMetrics {
  readonly contentType: string
  /**
   * Reads them from Redis, in the text format of Prometheus; whoever asks meanwhile gets the same answer.
   * @throws what ioredis throws where Redis is out of reach
   */
  text(): Promise<string>
}

/**
 * Makes the metrics that Redis knows of a whole service. For one process of it, such as the console: many replicas that each read
 * them at every scrape would only load Redis, and count everything many times.
 *
 * @example
 * const metrics = createServiceMetrics(openAccess({ redis, service: 'billing-api' }))
 */
export function createServiceMetrics(access: ServiceAccess): ServiceMetrics {
  let reading: Promise<string> | undefined
  const read = async (): Promise<string> => {
    // A new one each time: what a job or a release no longer has must not stay.
    const registry = new Registry()
    await readService(access, makeMetrics({ registry, service: access.store.service }, SERVICE_METRICS))
    return await registry.metrics()
  }
  return {
    contentType: new Registry().contentType,
    text() {
      reading ??= read().finally(() => {
        reading = undefined
      })
      return reading
    },
  }
}
