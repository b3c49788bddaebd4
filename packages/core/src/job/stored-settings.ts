import { z } from 'zod'
import type { Fault } from '../errors/cronce-error.ts'
import { describeValue } from '../errors/describe-value.ts'
import { deepFreeze } from './deep-freeze.ts'
import { asRecord, objectOf, parseFields } from './fields.ts'
import { LONGEST_TIMEOUT_MS } from './job-defaults.ts'
import { type JobSettings, jobSettings } from './job-definition.ts'
import { relationFaults } from './job-relations.ts'
import { storedDuration, VALUES } from './job-values.ts'
import { plainCopy } from './plain-copy.ts'
import { scheduleField } from './schedule-field.ts'

/** Settings as they are stored: durations in milliseconds, every default filled in. */
const STORED = {
  name: VALUES.name,
  schedule: scheduleField(),
  onCrash: VALUES.onCrash,
  catchUp: objectOf({ mode: VALUES.catchUpMode, withinMs: storedDuration(), atMost: VALUES.atMost }),
  overlap: VALUES.overlap,
  tolerance: objectOf({ startMs: storedDuration(), finishMs: storedDuration() }),
  expireMs: z.optional(storedDuration()),
  chunk: objectOf({ size: VALUES.chunkCount, concurrency: VALUES.chunkCount }),
  retry: objectOf({
    attempts: VALUES.attempts,
    backoff: objectOf({
      type: VALUES.backoffType,
      delayMs: storedDuration(),
      capMs: storedDuration(),
      jitter: VALUES.jitter,
    }),
  }),
  limit: z.optional(
    objectOf({
      concurrency: z.optional(VALUES.limitConcurrency),
      rate: z.optional(objectOf({ max: VALUES.rateMax, perMs: storedDuration() })),
    }),
  ),
  timeoutMs: storedDuration(LONGEST_TIMEOUT_MS),
  queue: VALUES.queue,
  version: VALUES.version,
  was: z.optional(VALUES.name),
  enqueue: z.optional(objectOf({ queue: VALUES.foreignQueue, name: VALUES.foreignJob, prefix: VALUES.prefix })),
  description: z.optional(VALUES.description),
  redact: z.optional(VALUES.redact),
}

/** Sound settings, or everything that is wrong with them. */
export type JobSettingsReading =
  | { readonly ok: JobSettings; readonly faults?: undefined }
  | { readonly ok?: undefined; readonly faults: readonly Fault[] }

/**
 * Reads what the store keeps of a definition (`jobSettings(definition)`, through JSON), which another image may have
 * written: the same rules as `defineJob`, without defaults. A key this image does not know is a fault, so that a replica
 * too old for a row abstains from it. Never throws.
 */
export function parseJobSettings(stored: unknown): JobSettingsReading {
  const copy = plainCopy(stored)
  const record = asRecord(copy.value)
  if (record === undefined)
    return {
      faults: [...copy.faults, { path: '', message: `expected the settings of a job, got ${describeValue(stored)}` }],
    }
  const { values, faults } = parseFields(STORED, record)
  const found = [...copy.faults, ...faults]
  if (found.length === 0) {
    const settings = jobSettings(values as JobSettings)
    const between = relationFaults(settings, [], 'stored')
    return between.length === 0 ? { ok: deepFreeze(settings) } : { faults: between }
  }
  return { faults: found }
}
