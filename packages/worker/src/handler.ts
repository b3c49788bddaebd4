import type { EntityShape, JobDefinition, JobSettings } from '@cronce/core'
import type { DoneContext, RunSummary } from './done-summary.ts'
import type { EntityContext } from './entity-context.ts'
import type { EntitySource } from './entity-source.ts'

/** What runs a job. `Entity` comes from the job's schema. */
export type HandlerInput<Entity> = {
  /** Works on one entity. Throwing fails the attempt; what it returns is not kept. */
  readonly each: (entity: Entity, context: EntityContext) => unknown
  /** Called once the run has ended, and again where a redrive changed its outcome: at least once per outcome. */
  readonly done?: (summary: RunSummary, context: DoneContext) => unknown
} & ([Entity] extends [undefined]
  ? { readonly entities?: undefined }
  : {
      /** Where a run's entities come from. A job without `entity` has none: it is one entity. */
      readonly entities: EntitySource
    })

/** A job with the code that runs it: what a worker is made of. */
export interface Handler<Name extends string = string> {
  readonly job: JobSettings & { readonly name: Name }
  readonly shape: EntityShape<unknown>
  readonly entities: EntitySource | undefined
  readonly each: (entity: unknown, context: EntityContext) => unknown
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
  const { entities, each, done } = input as unknown as Pick<Handler, 'entities' | 'each' | 'done'>
  return Object.freeze({
    job,
    shape: job.entity,
    entities,
    each,
    done,
  })
}
