import { type Span, SpanKind, type Telemetry } from 'bullmq'

/**
 * What traces are written with, such as `new BullMQOtel()` of bullmq-otel. Where none is given, nothing of it is loaded and nothing is
 * written into tasks.
 */
export type { Telemetry } from 'bullmq'

/** What a claim's span says. Times in epoch ms. */
export interface ClaimFacts {
  readonly slot: string
  readonly job: string
  readonly queue: string
  readonly replica: string
  readonly latenessMs: number
  /** When the slot was asked for. */
  readonly startedAt: number
}

/** The span of one claim: from the question to the slot job being on the queue. */
export interface ClaimSpan {
  /** What the slot's job carries so that whoever runs it continues this trace. */
  readonly trace: string
  /** The trace's id, where what is carried is that of W3C Trace Context. */
  readonly traceId: string | undefined
  /** Ends it; `error`: the add failed, or may have. */
  end(error?: unknown): void
}

/** Begins the trace of one slot, whatever trace the caller is in: a tick is of no request. */
export function startClaim({ tracer, contextManager }: Telemetry, facts: ClaimFacts): ClaimSpan {
  // Beyond BullMQ's own type: an OpenTelemetry tracer takes these as well.
  const options = { kind: SpanKind.PRODUCER, startTime: facts.startedAt, root: true }
  const span = tracer.startSpan(`claim ${facts.queue}`, options)
  span.setAttributes({
    'cronce.slot': facts.slot,
    'cronce.job': facts.job,
    'cronce.replica': facts.replica,
    'cronce.lateness_ms': facts.latenessMs,
  })
  const trace = contextManager.getMetadata(span.setSpanOnContext(contextManager.active()))
  return {
    trace,
    traceId: /\b00-([0-9a-f]{32})-[0-9a-f]{16}-/.exec(trace)?.[1],
    end(error) {
      if (error !== undefined) span.recordException(error instanceof Error ? error : 'the add failed')
      span.end()
    },
  }
}

/**
 * Writes what is added and what is worked on, and nothing of how a worker waits: BullMQ has a span for every look at an empty queue,
 * each a trace of its own.
 */
export function withoutInternals(telemetry: Telemetry): Telemetry {
  const { tracer, contextManager } = telemetry
  return {
    ...(telemetry.meter === undefined ? {} : { meter: telemetry.meter }),
    contextManager,
    tracer: {
      startSpan: (name, options, context) =>
        options?.kind === SpanKind.INTERNAL ? NO_SPAN : tracer.startSpan(name, options, context),
    },
  }
}

const nothing = (): void => undefined

const NO_SPAN: Span = {
  setSpanOnContext: (context) => context,
  setAttribute: nothing,
  setAttributes: nothing,
  addEvent: nothing,
  recordException: nothing,
  end: nothing,
}
