import type { Command } from 'commander'
import type { Answer } from '../answer.ts'
import type { Context } from '../context.ts'

/** Runs a verb: prints its answer or its error, and keeps its exit code. */
export type RunVerb = (verb: (context: Context) => Promise<Answer>) => Promise<void>

/** Adds commands to the program. What a verb needs is loaded when it runs, so that `next` does not wait for a queue. */
export type Registrar = (program: Command, run: RunVerb) => void
