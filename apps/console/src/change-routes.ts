import { CronceError, durationFault, parseDuration } from '@cronce/core'
import {
  discard,
  pauseJob,
  redrive,
  resumeJob,
  runNow,
  type SelectedLetters,
  type ServiceAccess,
} from '@cronce/operations'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { readInput } from './input.ts'
import { operatorOf } from './request-operator.ts'

const note = z.string().trim().min(1).max(1_000)
const NOTHING = z.strictObject({})
const DISCARD = z.strictObject({ note })
const RUN = z.strictObject({ note: note.optional(), requestId: note.optional() })
const PAUSE = z.strictObject({
  note,
  for: z
    .string()
    .refine((text) => durationFault(text) === undefined, 'expected a duration such as "2h"')
    .optional(),
  missed: z.enum(['skip', 'catch-up']).optional(),
})
const RESUME = z.strictObject({ note: note.optional(), missed: z.enum(['skip', 'catch-up']).optional() })

interface OfLetter {
  Params: { id: string }
}
interface OfJob {
  Params: { job: string }
}

/** What operators may change; the guard refuses everybody else. Each change has their name beside it. */
export function addChangeRoutes(app: FastifyInstance, access: ServiceAccess): void {
  app.post<OfLetter>('/api/dead/:id/redrive', async (request) => {
    readInput(NOTHING, request.body)
    const { id } = request.params
    const result = await redrive(access, { selection: { ids: [id] }, operator: operatorOf(request), mode: 'redrive' })
    refuseStale(id, result)
    return { id, entities: result.entities }
  })
  app.post<OfLetter>('/api/dead/:id/discard', async (request) => {
    const { note: reason } = readInput(DISCARD, request.body)
    const { id } = request.params
    const change = { selection: { ids: [id] }, operator: operatorOf(request), reason, mode: 'discard' } as const
    const result = await discard(access, change)
    refuseStale(id, result)
    return { id, entities: result.entities }
  })
  app.post<OfJob>('/api/jobs/:job/run', async (request) => {
    const { note: why, requestId } = readInput(RUN, request.body)
    return await runNow(access, { job: request.params.job, operator: operatorOf(request), why, requestId })
  })
  app.post<OfJob>('/api/jobs/:job/pause', async (request) => {
    const { for: length, ...rest } = readInput(PAUSE, request.body)
    const until = length === undefined ? undefined : { afterMs: parseDuration(length) }
    const { job } = request.params
    const result = await pauseJob(access, { job, operator: operatorOf(request), until, ...rest })
    if (result.status === 'already') throw new CronceError('CRONCE_CONSOLE_STALE', { id: job, state: 'paused' })
    return result
  })
  app.post<OfJob>('/api/jobs/:job/resume', async (request) => {
    const { job } = request.params
    const result = await resumeJob(access, { job, operator: operatorOf(request), ...readInput(RESUME, request.body) })
    if (result.status === 'already') throw new CronceError('CRONCE_CONSOLE_STALE', { id: job, state: 'not paused' })
    return result
  })
}

/** Somebody else was first: the asker is told what the letter is by now. */
function refuseStale(
  id: string,
  { entities, settled }: { entities: number; settled: SelectedLetters['settled'] },
): void {
  if (entities > 0) return
  throw new CronceError('CRONCE_CONSOLE_STALE', { id, state: settled[0]?.state ?? 'no longer open' })
}
