import { CronceError, durationFault, parseDuration, systemClock } from '@cronce/core'
import { type PauseJobResult, pauseJob, resumeJob, runNow, type ServiceAccess } from '@cronce/operations'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { readInput } from './input.ts'
import { addLetterRoutes } from './letter-routes.ts'
import { operatorOf } from './request-operator.ts'

const note = z.string().trim().min(1).max(1_000)
const RUN = z.strictObject({ note: note.optional(), requestId: note.optional() })
const PAUSE = z.strictObject({
  note,
  for: z
    .string()
    .refine((text) => durationFault(text) === undefined, 'expected a duration such as "2h"')
    .optional(),
  missed: z.enum(['skip', 'catch-up']).optional(),
})
const RESUME = z.strictObject({
  note: note.optional(),
  missed: z.enum(['skip', 'catch-up']).optional(),
  pausedAt: z.number().int().min(0).optional(),
})

interface OfJob {
  Params: { job: string }
}

/** What operators may change; the guard refuses everybody else. Each change has their name beside it. */
export function addChangeRoutes(app: FastifyInstance, access: ServiceAccess): void {
  addLetterRoutes(app, { access, clock: systemClock })
  app.post<OfJob>('/api/jobs/:job/run', async (request) => {
    const { note: why, requestId } = readInput(RUN, request.body)
    return await runNow(access, { job: request.params.job, operator: operatorOf(request), why, requestId })
  })
  app.post<OfJob>('/api/jobs/:job/pause', async (request) => {
    const { for: length, ...rest } = readInput(PAUSE, request.body)
    const until = length === undefined ? undefined : { afterMs: parseDuration(length) }
    const { job } = request.params
    const result = await pauseJob(access, { job, operator: operatorOf(request), until, ...rest })
    if (result.status === 'already') {
      throw new CronceError('CRONCE_CONSOLE_STALE', { id: job, state: stateOf(result.pause) })
    }
    return result
  })
  app.post<OfJob>('/api/jobs/:job/resume', async (request) => {
    const { job } = request.params
    const result = await resumeJob(access, { job, operator: operatorOf(request), ...readInput(RESUME, request.body) })
    const { status, pause } = result
    if (status === 'resuming') return result
    const state = status === 'other' ? `paused anew by ${pause?.by ?? 'somebody'}` : stateOf(pause)
    throw new CronceError('CRONCE_CONSOLE_STALE', { id: job, state })
  })
}

function stateOf(pause: PauseJobResult['pause']): string {
  if (pause === undefined) return 'not paused'
  return pause.state === 'resuming' ? 'being resumed' : 'paused'
}
