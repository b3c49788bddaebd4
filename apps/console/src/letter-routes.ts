import { CronceError } from '@cronce/core'
import { discard, redrive, type ServiceAccess, type SettledLetters } from '@cronce/operations'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { readInput } from './input.ts'
import { operatorOf } from './request-operator.ts'

const note = z.string().trim().min(1).max(1_000)
const NOTHING = z.strictObject({})
const DISCARD = z.strictObject({ note })

interface OfLetter {
  Params: { id: string }
}

/** Changes of dead letters. */
export function addLetterRoutes(app: FastifyInstance, access: ServiceAccess): void {
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
}

/** Somebody else was first: the asker is told what the letter is by now. */
function refuseStale(id: string, { entities, settled }: { entities: number; settled: SettledLetters }): void {
  if (entities > 0) return
  throw new CronceError('CRONCE_CONSOLE_STALE', { id, state: settled[0]?.state ?? 'no longer open' })
}
