import { z } from 'zod'
import { entityField } from './entity-field.ts'
import { objectOf, type ParsedFields, parseFields } from './fields.ts'
import * as defaults from './job-defaults.ts'
import type { JobLimit, JobSettings } from './job-definition.ts'
import { VALUES, writtenDuration } from './job-values.ts'
import { longestPeriodMs } from './longest-period.ts'
import { scheduleField } from './schedule-field.ts'

/** A definition as authors write it. */
const WRITTEN = {
  name: VALUES.name,
  schedule: scheduleField(),
  onCrash: VALUES.onCrash,
  catchUp: z.optional(
    objectOf({
      mode: z.optional(VALUES.catchUpMode),
      within: z.optional(writtenDuration()),
      atMost: z.optional(VALUES.atMost),
    }),
  ),
  overlap: z.optional(VALUES.overlap),
  tolerance: z.optional(objectOf({ start: z.optional(writtenDuration()), finish: z.optional(writtenDuration()) })),
  entity: z.optional(entityField()),
  chunk: z.optional(objectOf({ size: z.optional(VALUES.chunkCount), concurrency: z.optional(VALUES.chunkCount) })),
  retry: z.optional(
    objectOf({
      attempts: z.optional(VALUES.attempts),
      backoff: z.optional(
        objectOf({
          type: z.optional(VALUES.backoffType),
          delay: z.optional(writtenDuration()),
          cap: z.optional(writtenDuration()),
          jitter: z.optional(VALUES.jitter),
        }),
      ),
    }),
  ),
  limit: z.optional(
    objectOf({
      concurrency: z.optional(VALUES.limitConcurrency),
      rate: z.optional(objectOf({ max: VALUES.rateMax, per: writtenDuration() })),
    }),
  ),
  timeout: z.optional(writtenDuration(defaults.LONGEST_TIMEOUT_MS)),
  queue: z.optional(VALUES.queue),
  expire: z.optional(writtenDuration()),
  version: z.optional(VALUES.version),
  was: z.optional(VALUES.name),
  enqueue: z.optional(
    objectOf({ queue: VALUES.foreignQueue, name: VALUES.foreignJob, prefix: z.optional(VALUES.prefix) }),
  ),
  description: z.optional(VALUES.description),
  redact: z.optional(VALUES.redact),
}

type WrittenValues = ParsedFields<typeof WRITTEN>['values']

/** Parses what an author wrote, field by field. */
export function parseWritten(record: Readonly<Record<string, unknown>>): ParsedFields<typeof WRITTEN> {
  return parseFields(WRITTEN, record)
}

/**
 * The settings with every default filled in. Of a field that is missing although it must not be, a stand-in: the caller
 * has its fault and throws the settings away.
 */
export function withDefaults(values: WrittenValues): JobSettings {
  const timeoutMs = values.timeout ?? defaults.DEFAULT_TIMEOUT_MS
  return {
    name: values.name ?? '',
    schedule: values.schedule ?? { kind: 'every', periodMs: 86_400_000, offsetMs: 0, spreadMs: 0 },
    onCrash: values.onCrash ?? 'skip',
    catchUp: {
      mode: values.catchUp?.mode ?? defaults.DEFAULT_CATCH_UP.mode,
      withinMs: values.catchUp?.within ?? defaults.DEFAULT_CATCH_UP.withinMs,
      atMost: values.catchUp?.atMost ?? defaults.DEFAULT_CATCH_UP.atMost,
    },
    overlap: values.overlap ?? (values.enqueue === undefined ? defaults.DEFAULT_OVERLAP : 'allow'),
    tolerance: toleranceOf(values, timeoutMs),
    ...(values.expire === undefined ? {} : { expireMs: values.expire }),
    chunk: {
      size: values.chunk?.size ?? defaults.DEFAULT_CHUNK_SIZE,
      concurrency: values.chunk?.concurrency ?? defaults.DEFAULT_CHUNK_CONCURRENCY,
    },
    retry: { attempts: values.retry?.attempts ?? defaults.DEFAULT_ATTEMPTS, backoff: backoffOf(values) },
    ...(values.limit === undefined ? {} : { limit: limitOf(values.limit) }),
    timeoutMs,
    queue: values.queue ?? defaults.DEFAULT_QUEUE,
    version: values.version ?? defaults.DEFAULT_VERSION,
    ...(values.was === undefined ? {} : { was: values.was }),
    ...(values.enqueue === undefined
      ? {}
      : {
          enqueue: {
            queue: values.enqueue.queue,
            name: values.enqueue.name,
            prefix: values.enqueue.prefix ?? defaults.DEFAULT_ENQUEUE_PREFIX,
          },
        }),
    ...(values.description === undefined ? {} : { description: values.description }),
    ...(values.redact === undefined ? {} : { redact: values.redact }),
  }
}

function toleranceOf({ schedule, tolerance, expire }: WrittenValues, timeoutMs: number): JobSettings['tolerance'] {
  const periodMs =
    schedule === undefined ? Number.POSITIVE_INFINITY : longestPeriodMs(schedule, defaults.DEFAULT_START_TOLERANCE_MS)
  const startMs =
    tolerance?.start ?? defaults.defaultStartToleranceMs({ periodMs, finishMs: tolerance?.finish, expireMs: expire })
  return { startMs, finishMs: tolerance?.finish ?? Math.max(defaults.DEFAULT_FINISH_TOLERANCE_MS, startMs + timeoutMs) }
}

function limitOf({ concurrency, rate }: NonNullable<WrittenValues['limit']>): JobLimit {
  return {
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(rate === undefined ? {} : { rate: { max: rate.max, perMs: rate.per } }),
  }
}

function backoffOf({ retry }: WrittenValues): JobSettings['retry']['backoff'] {
  const { type, delay, cap, jitter } = retry?.backoff ?? {}
  const delayMs = delay ?? defaults.DEFAULT_BACKOFF.delayMs
  return {
    type: type ?? defaults.DEFAULT_BACKOFF.type,
    delayMs,
    capMs: cap ?? Math.max(defaults.DEFAULT_BACKOFF.capMs, delayMs),
    jitter: jitter ?? defaults.DEFAULT_BACKOFF.jitter,
  }
}
