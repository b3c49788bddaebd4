import type { Answer } from '../answer.ts'
import type { Context } from '../context.ts'
import type { WatchOptions } from '../watch.ts'

/**
 * Runs a verb: prints its answer or its error, and keeps its exit code; with `--watch` again and again. What a verb needs is loaded
 * when it runs, so that `next` does not wait for a client of Redis.
 */
export type RunVerb = (verb: (context: Context) => Promise<Answer>, watch?: WatchOptions) => Promise<void>
