import type { EntityShape, JobDefinition, JobSettings } from '@cronce/core'
import type { ChunkContext } from './chunk-context.ts'
import type { DoneContext, RunSummary } from './done-summary.ts'
import type { EntityContext } from './entity-context.ts'
import type { EntitySource } from './entity-source.ts'

type Each<Entity> = (entity: Entity, context: EntityContext) => unknown
type EachChunk<Entity> = (entities: readonly Entity[], context: ChunkContext<Entity>) => unknown

/** The work itself: one entity at a time, or a chunk of them at once. One of the two must be there. */
export type EntityWork<Entity> =
  | {
      /** Works on one entity. Throwing fails the attempt; what it returns is not kept. */
      readonly each: Each<Entity>
      /**
       * Works on all entities of a chunk in one call, for effects that are cheaper in bulk: those that are due and have not failed.
       * Within the job's `timeout`. Where it throws, they are worked on one by one, so that one bad entity does not fail the others:
       * by `each`, or else by this with one entity. The same where a worker died in it.
       */
      readonly eachChunk?: EachChunk<Entity>
    }
  | { readonly each?: undefined; readonly eachChunk: EachChunk<Entity> }

/** What runs a job. `Entity` comes from the job's schema. */
export type HandlerInput<Entity> = {
  /** Called once the run has ended, and again where a redrive changed its outcome: at least once per outcome. */
  readonly done?: (summary: RunSummary, context: DoneContext) => unknown
} & ([Entity] extends [undefined]
  ? { readonly entities?: undefined; readonly each: Each<Entity>; readonly eachChunk?: undefined }
  : {
      /** Where a run's entities come from. A job without `entity` has none: it is one entity. */
      readonly entities: EntitySource
    } & EntityWork<Entity>)

/** A job with the code that runs it: what a worker is made of. */
export interface Handler<Name extends string = string> {
  readonly job: JobSettings & { readonly name: Name }
  readonly shape: EntityShape<unknown>
  readonly entities: EntitySource | undefined
  /** One of `each` and `eachChunk` is there. */
  readonly each: Each<unknown> | undefined
  readonly eachChunk: EachChunk<unknown> | undefined
  readonly done: ((summary: RunSummary, context: DoneContext) => unknown) | undefined
}

/**
 * Binds code to a job. Only workers do so: a replica with a trigger never loads it. Faults are found by `createWorker`, all at once.
 *
 * @example
 * handle(invoiceRun, {
 *   entities: ({ after, limit, slot }) => accounts.page({ after, limit, closedBefore: slot.at }),
 *   each: async (account, ctx) => {
 *     await ctx.once('invoice', () => billing.invoice(account, ctx.idempotencyKey('invoice')))
 *   },
 * })
 */
export function handle<const Name extends string, Entity>(
  job: JobDefinition<Name, Entity>,
  input: HandlerInput<NoInfer<Entity>>,
): Handler<Name> {
  // The one place where the entity's type is forgotten: what `parse` gives is what `each` takes.
  const { entities, each, eachChunk, done } = input as unknown as Omit<Handler, 'job' | 'shape'>
  return Object.freeze({
    job,
    shape: job.entity,
    entities,
    each,
    eachChunk,
    done,
  })
}
