import type { ServiceAccess } from '@cronce/operations'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { readInput } from './input.ts'
import { readJobDetails, readNextSlots } from './job-details.ts'
import { readFigures } from './job-figures.ts'

const LATEST = 253_402_300_799_000

const NEXT = z.strictObject({
  count: z.coerce.number().int().min(1).max(200).default(20),
  from: z.coerce.number().int().min(0).max(LATEST).optional(),
})
const FIGURES = z.strictObject({
  limit: z.coerce.number().int().min(1).max(500).default(200),
  cursor: z.string().min(1).max(8_192).optional(),
})

interface OfJob {
  Params: { job: string }
}

/** What anybody who is signed in may read of one job. */
export function addJobRoutes(app: FastifyInstance, { store }: ServiceAccess): void {
  app.get<OfJob>('/api/jobs/:job', async ({ params, query }) => {
    readInput(z.strictObject({}), query)
    return await readJobDetails(store, params.job)
  })
  app.get<OfJob>('/api/jobs/:job/slots', async ({ params, query }) => {
    const { count, from } = readInput(NEXT, query)
    return await readNextSlots(store, params.job, { count, from })
  })
  app.get<OfJob>('/api/jobs/:job/figures', async ({ params, query }) => {
    const { limit, cursor } = readInput(FIGURES, query)
    return await readFigures(store, params.job, { limit, cursor })
  })
}
