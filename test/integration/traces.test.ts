import { defineJob, every, type JobDefinition, jobSettings, parseSlotKey, type SlotKey, slotIdOf } from '@cronce/core'
import { queuePrefix, readSlot } from '@cronce/store'
import { createTrigger, type Trigger } from '@cronce/trigger'
import { handle } from '@cronce/worker'
import { context, propagation, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { Worker } from 'bullmq'
import { BullMQOtel } from 'bullmq-otel'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { z } from 'zod'
import { describeNeeding, type RedisServer, startRedis, waitUntil } from '../support/index.ts'
import { openStage, type Stage } from '../support/worker-stage.ts'

const invoices = defineJob({
  name: 'invoice-run',
  schedule: every('1s'),
  onCrash: 'complete',
  overlap: 'allow',
  entity: { schema: z.object({ id: z.number() }), key: ({ id }) => String(id) },
  chunk: { size: 10 },
})

const ENTITIES = 25

const spans = new InMemorySpanExporter()
const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: spans })] })

function told(name: string, slot?: SlotKey): ReadableSpan[] {
  return spans.getFinishedSpans().filter((span) => span.name === name && (slot === undefined || slotOf(span) === slot))
}

function slotOf({ attributes }: ReadableSpan): string {
  return String(attributes['cronce.slot'] ?? attributes['bullmq.job.id']).split('/')[0] ?? ''
}

const taskOf = ({ attributes }: ReadableSpan) => String(attributes['bullmq.job.id']).split('/')[1] ?? 'slot job'

describeNeeding(['redis-server'], 'a trace', () => {
  let redis: RedisServer
  let stage: Stage
  let triggers: Trigger[]

  beforeAll(async () => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
    propagation.setGlobalPropagator(new W3CTraceContextPropagator())
    trace.setGlobalTracerProvider(provider)
    redis = await startRedis()
  })
  beforeEach(() => {
    spans.reset()
    stage = openStage(redis)
    triggers = []
  })
  afterEach(async () => {
    await Promise.all(triggers.map((trigger) => trigger.stop()))
    await stage.close()
  })
  afterAll(async () => {
    await redis.stop()
    await provider.shutdown()
    trace.disable()
    context.disable()
    propagation.disable()
  })

  async function fire(
    telemetry: 'on' | 'off',
    { ids = ['r-1'], jobs = [invoices] as readonly JobDefinition[] } = {},
  ): Promise<void> {
    for (const id of ids) {
      const trigger = createTrigger({
        ...{ service: stage.service, jobs, redis: redis.url, id, logger: pino({ level: 'silent' }) },
        ...(telemetry === 'on' ? { telemetry: () => new BullMQOtel() } : {}),
      })
      triggers.push(trigger)
    }
    await Promise.all(triggers.map((trigger) => trigger.start()))
  }

  const handler = () =>
    handle(invoices, {
      entities: ({ after, limit }) => {
        const from = Number(after ?? 0)
        const until = Math.min(ENTITIES, from + limit)
        const entities = Array.from({ length: until - from }, (_, index) => ({ id: from + index }))
        return { entities, next: until === ENTITIES ? null : String(until) }
      },
      each: ({ id }) => {
        if (id === 0) trace.getTracer('handler').startSpan('charge').end()
      },
      done: () => undefined,
    })

  it('goes from the claim of a slot over its plan to every chunk and its end', async () => {
    const { told: heard } = await stage.work([handler()], { telemetry: () => new BullMQOtel() })
    await fire('on', { ids: ['r-1', 'r-2'] })
    await waitUntil(() => heard('run.ended').length >= 2 && told('process default').length >= 12, {
      message: 'two runs and their spans',
      timeoutMs: 20_000,
    })
    const [first, second] = heard('run.ended').map(({ slot }) => slot)
    if (first === undefined || second === undefined) throw new Error('no runs')
    const traces = [first, second].map((slot) => {
      const claims = told('claim default', slot)
      expect(claims.map(({ parentSpanContext }) => parentSpanContext)).toEqual([undefined])
      const { traceId } = claims[0]!.spanContext()
      const tasks = told('process default', slot)
      expect(tasks.map(taskOf).toSorted()).toEqual(['chunk-0', 'chunk-1', 'chunk-2', 'done-1', 'slot job'])
      expect(new Set(tasks.map((span) => span.spanContext().traceId))).toEqual(new Set([traceId]))
      return traceId
    })
    expect(new Set(traces).size).toBe(2)
    // The ledger says under which trace a run is found.
    const entries = await Promise.all(
      [first, second].map((slot) => readSlot(stage.store, invoices.name, slotIdOf(slot))),
    )
    expect(entries.map((entry) => entry?.traceId)).toEqual(traces)
    const slotJob = told('process default', first).find((span) => taskOf(span) === 'slot job')
    expect(slotJob?.parentSpanContext?.spanId).toBe(told('claim default', first)[0]?.spanContext().spanId)
    const [claim] = told('claim default', first)
    expect(claim?.attributes).toMatchObject({ 'cronce.job': 'invoice-run', 'cronce.slot': first })
    expect(parseSlotKey(String(claim?.attributes['cronce.slot'])).job).toBe('invoice-run')
    // What a handler traces is of the chunk that it runs in.
    const charge = told('charge').find((span) => span.spanContext().traceId === traces[0])
    const chunk = told('process default', first).find((span) => taskOf(span) === 'chunk-0')
    expect(charge?.parentSpanContext?.spanId).toBe(chunk?.spanContext().spanId)
    // No span of a worker that waits, and none of a replica that lost.
    const kinds = new Set(spans.getFinishedSpans().map(({ name }) => name))
    expect([...kinds].toSorted()).toEqual(['addBulk default', 'charge', 'claim default', 'process default'])
    expect(new Set(spans.getFinishedSpans().map((span) => span.spanContext().traceId)).size).toBe(
      told('claim default').length,
    )
  })

  it('begins at the slot job where the claim begins none, and lasts to every chunk', async () => {
    const { told: heard } = await stage.work([handler()], { telemetry: () => new BullMQOtel() })
    const run = await stage.start(jobSettings(invoices))
    await stage.ended(run)
    await waitUntil(() => told('process default').length >= 5, { message: 'the spans' })
    expect(told('process default').map(taskOf).toSorted()).toEqual([
      'chunk-0',
      'chunk-1',
      'chunk-2',
      'done-1',
      'slot job',
    ])
    expect(new Set(told('process default').map((span) => span.spanContext().traceId)).size).toBe(1)
    expect(heard('queue.troubled')).toEqual([])
    expect((await stage.read(run)).traceId).toBeUndefined()
  })

  it.each(['off', 'on'] as const)('is carried by the slot job only where it is asked for: %s', async (telemetry) => {
    await fire(telemetry)
    const [trigger] = triggers
    const slot = await new Promise<SlotKey>((resolve) =>
      trigger?.events.on('slot.enqueued', (facts) => resolve(facts.slot)),
    )
    const options = await stage.redis.hget(`${queuePrefix(stage.service, 'default')}:default:${slot}`, 'opts')
    const [claim] = told('claim default', slot)
    if (telemetry === 'off') {
      expect(spans.getFinishedSpans()).toEqual([])
      expect(options).not.toMatch(/traceparent|"tm"/)
    } else expect(options).toContain(claim?.spanContext().traceId)
  })

  it('reaches a plain BullMQ worker of somebody else', async () => {
    const placed = defineJob({
      name: 'placed',
      schedule: every('1s'),
      onCrash: 'complete',
      enqueue: { queue: 'theirs', name: 'nightly' },
    })
    await fire('on', { jobs: [placed] })
    const worker = new Worker('theirs', () => Promise.resolve(), {
      connection: { url: redis.url, maxRetriesPerRequest: null },
      telemetry: new BullMQOtel(),
    })
    try {
      await waitUntil(() => told('process theirs').length > 0, { message: 'their span', timeoutMs: 20_000 })
      const [task] = told('process theirs')
      const [claim] = told('claim theirs').filter((span) => task !== undefined && slotOf(span) === slotOf(task))
      expect(task?.parentSpanContext?.spanId).toBe(claim?.spanContext().spanId)
    } finally {
      await worker.close()
    }
  })
})
