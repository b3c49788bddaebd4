import { parseDeadLetterId } from '@cronce/core'
import { revealDeadLetters, type ServiceAccess, showDeadLetter } from '@cronce/operations'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { readInput } from './input.ts'
import type { LetterAnswer } from './letter-answers.ts'
import { operatorOf } from './request-operator.ts'
import { letterAnswer } from './service-answers.ts'

const NOTE = z.strictObject({ note: z.string().trim().min(1).max(1_000).optional() })

/** Shows what a definition hides of a dead letter, to an admin. No `GET`: the journal says that it was seen. */
export function addRevealRoutes(app: FastifyInstance, access: ServiceAccess): void {
  app.post<{ Params: { id: string } }>('/api/dead/:id/reveal', async (request): Promise<LetterAnswer> => {
    const { note } = readInput(NOTE, request.body)
    const { id } = request.params
    const { job } = await showDeadLetter(access.store, id)
    const { slot } = parseDeadLetterId(id)
    const asked = { operator: operatorOf(request), selection: id, job, slots: [slot], note }
    return letterAnswer(await revealDeadLetters(access, asked, (show) => show(id)))
  })
}
