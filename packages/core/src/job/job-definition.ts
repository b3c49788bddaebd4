import type { Backoff } from '../run/retry-delay.ts'
import type { Schedule } from '../schedule/schedule.ts'
import type { Redaction } from './redact-payload.ts'

/** What happens to work whose worker died. There is no default: the author must choose. */
export type CrashPolicy =
  /** The handler starts at most once per (slot, entity) and attempt, whatever dies. */
  | 'skip'
  /** It runs until it succeeds or is a dead letter, whatever dies. */
  | 'complete'

export interface CatchUp {
  /** After an outage: run every slot, the newest only, or none. */
  readonly mode: 'late' | 'latest' | 'skip'
  /** Slots later than this are not run. Default 1 hour. */
  readonly withinMs: number
  /** At most this many slots per outage, the newest. Default 10. */
  readonly atMost: number
}

export type OverlapPolicy = 'allow' | 'skip' | 'queue' | 'cancel-previous'

/** How much of one job's work goes on at once, over all workers of the service. At least one of the two is there. */
export interface JobLimit {
  /** Calls of its handler at once. */
  readonly concurrency?: number
  /** Entities that are started: `max` in each `perMs`, evenly. */
  readonly rate?: { readonly max: number; readonly perMs: number }
}

/**
 * The part of a definition that is plain data: what the store keeps, and every replica and worker agrees on.
 * All durations in milliseconds, all defaults filled in.
 */
export interface JobSettings {
  readonly name: string
  readonly schedule: Schedule
  readonly onCrash: CrashPolicy
  readonly catchUp: CatchUp
  readonly overlap: OverlapPolicy
  /** Overdue beyond these: to start, from the effective instant; to finish, likewise. */
  readonly tolerance: { readonly startMs: number; readonly finishMs: number }
  /** A run not started by then (from the effective instant) is dropped as expired. Undefined: never. */
  readonly expireMs?: number
  readonly chunk: { readonly size: number; readonly concurrency: number }
  readonly retry: { readonly attempts: number; readonly backoff: Backoff }
  /** Bounds over all workers. Undefined: none. */
  readonly limit?: JobLimit
  /** Longest time one attempt of one entity (or of `done`) may take. */
  readonly timeoutMs: number
  readonly queue: string
  /** Which payloads and handlers fit together; a worker that lacks it hands the job back. Default 1. */
  readonly version: number
  /** The name this job had before; the old one ends when this one is registered. */
  readonly was?: string
  /** Places the job for a plain BullMQ worker instead of ours; the run ends, for us, at `enqueued`. */
  readonly enqueue?: { readonly queue: string; readonly name: string; readonly prefix: string }
  readonly description?: string
  /** What operators do not see of its payloads. Undefined: nothing is hidden. */
  readonly redact?: Redaction
}

/** What the handlers of one entity agree on. */
export interface EntityShape<Entity> {
  /** Parses what the source or the plan gave; throws (a ZodError, say) on what is malformed. */
  readonly parse: (payload: unknown) => Entity
  /**
   * The name of one entity: non-empty, at most 512 bytes, stable. A method, so that a list of jobs of different entities
   * is a list of `JobDefinition`; it uses no `this`.
   */
  key(entity: Entity): string
}

/** A job: name, schedule, policies and the shape of its entities. It has no handler code in it. */
export interface JobDefinition<Name extends string = string, Entity = unknown> extends JobSettings {
  readonly name: Name
  readonly entity: EntityShape<Entity>
}

/** The plain-data part of a definition, in a stable order of keys, so that equal settings have equal JSON. */
export function jobSettings(definition: JobSettings): JobSettings {
  const {
    name,
    schedule,
    onCrash,
    catchUp,
    overlap,
    tolerance,
    expireMs,
    chunk,
    retry,
    limit,
    timeoutMs,
    queue,
    version,
    was,
    enqueue,
    description,
    redact,
  } = definition
  return {
    name,
    schedule,
    onCrash,
    catchUp,
    overlap,
    tolerance,
    ...(expireMs === undefined ? {} : { expireMs }),
    chunk,
    retry,
    ...(limit === undefined ? {} : { limit }),
    timeoutMs,
    queue,
    version,
    ...(was === undefined ? {} : { was }),
    ...(enqueue === undefined ? {} : { enqueue }),
    ...(description === undefined ? {} : { description }),
    ...(redact === undefined ? {} : { redact }),
  }
}
