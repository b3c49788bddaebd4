import { hostname } from 'node:os'
import { optionalUrlText, type Variables } from '@cronce/core'
import type { BullMQOtel } from 'bullmq-otel'

/** Where traces go; the same in triggers and workers. */
export const TRACE_VARIABLES = {
  CRONCE_OTLP_URL: {
    about:
      'Where traces are posted, by OTLP over HTTP, such as http://collector:4318/v1/traces. Unset: nothing is traced.',
    default: '',
    schema: optionalUrlText(['http:', 'https:']),
  },
} as const satisfies Variables

export interface TraceOptions {
  readonly url: string
  readonly service: string
  readonly release: string
  /** The id of this replica or worker. Default: host name and process id. */
  readonly instance: string | undefined
  /** What could not be posted is dropped, and told here. */
  readonly onTrouble: (error: unknown) => void
}

export interface Traces {
  /** The option of triggers and workers. */
  readonly telemetry: () => BullMQOtel
  /** Posts what is left, for a few seconds at most. */
  close(): Promise<void>
}

/** How long a post of spans may take, ms: a collector that is away holds up no stop. */
const POST_WITHIN_MS = 3_000

/**
 * Sets OpenTelemetry up for this process. It is loaded here and not before: whoever traces nothing does not pay for it.
 */
export async function openTraces(options: TraceOptions): Promise<Traces> {
  const [api, hooks, core, sdk, resources, exporters, otel] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/context-async-hooks'),
    import('@opentelemetry/core'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('bullmq-otel'),
  ])
  const exporter = new exporters.OTLPTraceExporter({ url: options.url, timeoutMillis: POST_WITHIN_MS })
  const provider = new sdk.TracerProvider({
    resource: resources.resourceFromAttributes({
      'service.name': options.service,
      'service.version': options.release,
      'service.instance.id': options.instance ?? `${hostname()}-${process.pid}`,
    }),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter, exportTimeoutMillis: POST_WITHIN_MS })],
  })
  core.setGlobalErrorHandler(options.onTrouble)
  api.context.setGlobalContextManager(new hooks.AsyncLocalStorageContextManager().enable())
  api.propagation.setGlobalPropagator(new core.W3CTraceContextPropagator())
  api.trace.setGlobalTracerProvider(provider)
  return {
    telemetry: () => new otel.BullMQOtel({ tracerName: 'cronce', version: options.release }),
    close: () => provider.shutdown().catch(options.onTrouble),
  }
}
