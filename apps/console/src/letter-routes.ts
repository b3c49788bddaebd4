import { type Clock, CronceError, parseRate, RATE_FORM } from '@cronce/core'
import { discard, type LetterSelection, redrive, type ServiceAccess, type SettledLetters } from '@cronce/operations'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { readInput } from './input.ts'
import type { LetterChangeAnswer, LetterChangesAnswer, LetterPreviewAnswer } from './letter-answers.ts'
import { LetterChanges } from './letter-changes.ts'
import { operatorOf } from './request-operator.ts'

const note = z.string().trim().min(1).max(1_000)
const text = z.string().min(1).max(8_192)
const instant = z.number().int().min(0).max(8.64e15)
const NOTHING = z.strictObject({})
const DISCARD = z.strictObject({ note })

const FILTER = { job: text, slot: text, error: text, fromAt: instant, toAt: instant }
const SELECTION = z.union([
  z.strictObject({ ids: z.array(z.string().min(1).max(4_096)).min(1).max(1_000) }),
  z
    .strictObject(FILTER)
    .partial()
    .refine((filter) => Object.keys(filter).length > 0, 'expected ids or a filter'),
])
const rate = z.string().refine((typed) => parseRate(typed) !== undefined, `expected ${RATE_FORM}`)
const REDRIVE = { verb: z.literal('redrive'), selection: SELECTION, abandoned: z.enum(['left', 'too']).optional() }
const PREVIEW = z.strictObject({
  verb: z.enum(['redrive', 'discard']),
  selection: SELECTION,
  abandoned: REDRIVE.abandoned,
})
const CHANGE = z.discriminatedUnion('verb', [
  z.strictObject({ ...REDRIVE, rate: rate.optional() }),
  z.strictObject({ verb: z.literal('discard'), selection: SELECTION, note, rate: rate.optional() }),
])

/** A page of ids, each of a long entity key. */
const LONGEST_BODY = 1024 * 1024

interface OfId {
  Params: { id: string }
}

/** Changes of dead letters: of one at once, of many as a change that goes on and is looked after. */
export function addLetterRoutes(
  app: FastifyInstance,
  { access, clock }: { readonly access: ServiceAccess; readonly clock: Clock },
): void {
  const changes = new LetterChanges(access, clock)
  // Before the connection to Redis is closed.
  app.addHook('preClose', () => changes.close())
  app.post<OfId>('/api/dead/:id/redrive', async (request) => {
    readInput(NOTHING, request.body)
    const { id } = request.params
    const result = await redrive(access, { selection: { ids: [id] }, operator: operatorOf(request), mode: 'redrive' })
    refuseStale(id, result)
    return { id, entities: result.entities }
  })
  app.post<OfId>('/api/dead/:id/discard', async (request) => {
    const { note: reason } = readInput(DISCARD, request.body)
    const { id } = request.params
    const change = { selection: { ids: [id] }, operator: operatorOf(request), reason, mode: 'discard' } as const
    const result = await discard(access, change)
    refuseStale(id, result)
    return { id, entities: result.entities }
  })
  app.post(
    '/api/letter-changes/preview',
    { bodyLimit: LONGEST_BODY },
    async (request): Promise<LetterPreviewAnswer> => {
      const { verb, selection, abandoned } = readInput(PREVIEW, request.body)
      return await preview(access, { verb, selection, abandoned, operator: operatorOf(request) })
    },
  )
  app.post('/api/letter-changes', { bodyLimit: LONGEST_BODY }, async (request, reply): Promise<LetterChangeAnswer> => {
    const asked = readInput(CHANGE, request.body)
    void reply.code(202)
    return await changes.start({
      ...{ verb: asked.verb, selection: asked.selection, operator: operatorOf(request) },
      rate: asked.rate === undefined ? undefined : { text: asked.rate, intervalMs: parseRate(asked.rate) ?? 0 },
      note: asked.verb === 'discard' ? asked.note : undefined,
      abandoned: asked.verb === 'redrive' ? asked.abandoned : undefined,
    })
  })
  app.get('/api/letter-changes', (): LetterChangesAnswer => ({ changes: changes.all() }))
  app.delete<OfId>('/api/letter-changes/:id', ({ params }): LetterChangeAnswer => changes.stop(params.id))
}

interface Previewed {
  readonly verb: 'redrive' | 'discard'
  readonly selection: LetterSelection
  readonly abandoned: 'left' | 'too' | undefined
  readonly operator: ReturnType<typeof operatorOf>
}

async function preview(access: ServiceAccess, asked: Previewed): Promise<LetterPreviewAnswer> {
  const { verb, ...request } = asked
  if (verb === 'redrive') {
    const { entities, runs, abandonedLeft, settled } = await redrive(access, { ...request, mode: 'preview' })
    return { entities, runs, abandonedLeft, settled }
  }
  const { selection, operator } = request
  const given = await discard(access, { selection, operator, reason: 'a preview', mode: 'preview' })
  return { entities: given.entities, runs: given.runs, abandonedLeft: 0, settled: given.settled }
}

/** Somebody else was first: the asker is told what the letter is by now. */
function refuseStale(id: string, { entities, settled }: { entities: number; settled: SettledLetters }): void {
  if (entities > 0) return
  throw new CronceError('CRONCE_CONSOLE_STALE', { id, state: settled[0]?.state ?? 'no longer open' })
}
