import type { Duration } from '../duration.ts'
import type { Schedule } from '../schedule/schedule.ts'
import type { CatchUp, CrashPolicy, OverlapPolicy } from './job-definition.ts'
import type { Redaction } from './redact-payload.ts'

/** Anything that parses a payload or throws: every zod schema. Parsing must be synchronous. */
export interface EntitySchema<Entity> {
  readonly parse: (payload: unknown) => Entity
}

/**
 * What an author writes. A duration is text such as `'15m'` or `'1.5s'`, or a number of milliseconds; none is longer than
 * 366 days. The defaults are the constants of `job-defaults.ts`.
 */
export interface JobInput<Name extends string = string, Entity = unknown> {
  /**
   * Unique in the service, 1 to 128 characters of any script, NFC, without control characters and without white space
   * around it. It is part of every slot key.
   */
  readonly name: Name
  /** `cron('0 2 * * *', { zone: 'Europe/Berlin' })` or `every('15m')`. */
  readonly schedule: Schedule
  /**
   * What becomes of work whose worker died. `'skip'`: an entity is started at most once per attempt, the interrupted one
   * is abandoned. `'complete'`: it is started again until it succeeds or is a dead letter. No default: only the author
   * knows whether the work may be repeated.
   */
  readonly onCrash: CrashPolicy
  /** What becomes of slots that came due while no replica lived. Default `{ mode: 'late', within: '1h', atMost: 10 }`. */
  readonly catchUp?: {
    /** `'late'`: every slot, oldest first; `'latest'`: the newest only; `'skip'`: none. Default `'late'`. */
    readonly mode?: CatchUp['mode']
    /** Slots later than this are recorded as missed. Longer than the claim lease (10 s). Default 1 hour. */
    readonly within?: Duration
    /** At most this many slots, the newest, 1 to 10,000. Default 10. */
    readonly atMost?: number
  }
  /**
   * What becomes of a slot that comes due while the run before it has not ended: `'allow'` runs both, `'skip'` records it
   * as skipped, `'queue'` lets the newest wait, `'cancel-previous'` aborts the running one. Default `'skip'`; with
   * `enqueue` only `'allow'`.
   */
  readonly overlap?: OverlapPolicy
  /** When a slot is overdue and an alarm is raised, counted from its effective instant. Nothing is stopped by it. */
  readonly tolerance?: {
    /**
     * Not started by then. Not longer than the period, or than 1 minute for what fires more often. Default 5 minutes, or
     * less where the period, `finish` or `expire` is short.
     */
    readonly start?: Duration
    /** Not ended by then. Longer than `start`, not shorter than a `timeout` that was chosen. Default 1 hour, at least `start` + `timeout`. */
    readonly finish?: Duration
  }
  /**
   * What one unit of work is about. A job without it is one entity, whose payload is undefined and whose key is `'-'`.
   */
  readonly entity?: {
    /** Checks every entity before its handler; what it refuses is a dead letter. */
    readonly schema: EntitySchema<Entity>
    /** The entity's name: non-empty, at most 512 bytes, the same each time. */
    readonly key: (entity: Entity) => string
  }
  /** How entities are grouped into queue jobs. Default `{ size: 100, concurrency: 10 }`. */
  readonly chunk?: {
    /** Entities in one queue job, 1 to 1,000. Default 100. */
    readonly size?: number
    /** Entities of one chunk that run at the same time, 1 to 1,000. Default 10. */
    readonly concurrency?: number
  }
  /** What follows when a handler throws or times out. Crashes are counted apart. */
  readonly retry?: {
    /** How often an entity is tried, the first time included, 1 to 10,000. Default 3. */
    readonly attempts?: number
    readonly backoff?: {
      /** `'exponential'` doubles the wait after every attempt, `'fixed'` does not. Default `'exponential'`. */
      readonly type?: 'exponential' | 'fixed'
      /** The first wait. Default 1 second. */
      readonly delay?: Duration
      /** The longest wait, not shorter than `delay`. Default 10 minutes, or `delay` where that is longer. */
      readonly cap?: Duration
      /** The share of a wait that is left to chance, 0 to 1. Default 0.5. */
      readonly jitter?: number
    }
  }
  /**
   * Bounds over all workers of the service, for the sake of whom the work calls on. Default: none; what bounds it then is `chunk`
   * and the concurrency of the queues. docs/handlers.md says how it is kept.
   */
  readonly limit?: {
    /** Calls of the handler at once, 1 to 1,000; a call of `eachChunk` is one. */
    readonly concurrency?: number
    /** Entities started, retries among them: at most `max` (1 to 1,000,000) in each `per`, evenly spread. */
    readonly rate?: { readonly max: number; readonly per: Duration }
  }
  /** The longest time of one attempt of one entity, at most 1 day; the abort signal fires then. Default 1 minute. */
  readonly timeout?: Duration
  /** The queue whose workers run it: a name without white space and `: , { }`. Default `'default'`. */
  readonly queue?: string
  /** A run that has not started by then is recorded as skipped: expired. Longer than `tolerance.start`. Default: never. */
  readonly expire?: Duration
  /** Which payloads and handlers fit together: raise it when old workers could not run new payloads. Default 1. */
  readonly version?: number
  /** The name this job had before. The old name ends when this one is registered, and never runs beside it. */
  readonly was?: string
  /**
   * Places a job for a BullMQ worker of your own, at least once; the run ends, for Cronce, at `enqueued`. With it there is
   * no `entity` and no `queue`, and `overlap` is `'allow'`. `prefix` is that worker's, default `'bull'`.
   */
  readonly enqueue?: { readonly queue: string; readonly name: string; readonly prefix?: string }
  /** One line for those who read the list of jobs, at most 500 characters. */
  readonly description?: string
  /**
   * What operators do not see of the payloads of its dead letters, nor of the errors that hold it: fields such as `'iban'`,
   * `'customer.email'`, `'items.price'` (of every item) or `'*.email'`, 1 to 100; or `'all'`. Keys of entities are always seen.
   * Default: nothing is hidden.
   */
  readonly redact?: Redaction
}
