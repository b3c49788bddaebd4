import { defineJob, type JobDefinition, type JobInput } from '@cronce/core'
import { z } from 'zod'

/** What an entity of these tests is. */
export interface Row {
  readonly id: string
}

/** A job as a program is told of it: plain data, its schedule included. */
export type JobSpec = Omit<JobInput, 'entity'>

/** The job of a spec; its entities are rows, named by their id. */
export function jobOf(spec: JobSpec): JobDefinition<string, Row> {
  return defineJob({ ...spec, entity: { schema: z.object({ id: z.string() }), key: ({ id }) => id } })
}
