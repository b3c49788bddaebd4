import { runSlot, type ServiceAccess } from '@cronce/operations'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { readInput } from './input.ts'
import { operatorOf } from './request-operator.ts'

const RUN_SLOT = z.strictObject({
  note: z.string().trim().min(1).max(1_000).optional(),
  /** R4: a run that has ended is refused, unless its plan is to be walked again for what has no receipt. */
  ended: z.enum(['refuse', 'walk-again']).optional(),
})

/** Runs one slot of the schedule that was missed or skipped, under its own identity. */
export function addSlotRoutes(app: FastifyInstance, access: ServiceAccess): void {
  app.post<{ Params: { job: string; slot: string } }>('/api/jobs/:job/slots/:slot/run', async (request) => {
    const { note: why, ended = 'refuse' } = readInput(RUN_SLOT, request.body)
    const { job, slot } = request.params
    return await runSlot(access, { job, slot, operator: operatorOf(request), why, ended, release: 'console' })
  })
}
