import { createMetrics } from '@cronce/metrics'
import { createServiceMetrics } from '@cronce/metrics/service'
import type { ServiceAccess } from '@cronce/operations'

/** What `/metrics` answers: this process, and what Redis knows of the whole service, in the text format of Prometheus. */
export interface ConsoleMetrics {
  readonly contentType: string
  text(): Promise<string>
}

export function createConsoleMetrics(access: ServiceAccess, release: string): ConsoleMetrics {
  const own = createMetrics({ service: access.store.service, release })
  const service = createServiceMetrics(access)
  return {
    contentType: own.contentType,
    text: async () => (await Promise.all([own.text(), service.text()])).join('\n'),
  }
}
