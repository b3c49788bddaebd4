import { type Clock, CronceError, parseRate, RATE_FORM } from '@cronce/core'
import { discard, type LetterSelection, redrive, type ServiceAccess, showDeadLetter } from '@cronce/operations'
import { readTime } from '@cronce/store'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { readInput } from './input.ts'
import type { LetterChangeAnswer, LetterChangesAnswer, LetterPreviewAnswer } from './letter-answers.ts'
import { LetterChanges } from './letter-changes.ts'
import { operatorOf } from './request-operator.ts'

const note = z.string().trim().min(1).max(1_000)
const text = z.string().min(1).max(8_192)
const instant = z.number().int().min(0).max(8.64e15)
/** When the letter that the asker sees died last: where it died again since, nothing is done. */
const SEEN = { at: instant.optional() }
const REDRIVE_ONE = z.strictObject(SEEN)
const DISCARD = z.strictObject({ ...SEEN, note })

const FILTER = { job: text, slot: text, error: text, fromAt: instant, toAt: instant }
const SELECTION = z.union([
  z.strictObject({ ids: z.array(z.string().min(1).max(4_096)).min(1).max(1_000) }),
  z
    .strictObject(FILTER)
    .partial()
    .refine((filter) => Object.keys(filter).length > 0, 'expected ids or a filter'),
])
const rate = z.string().refine((typed) => parseRate(typed) !== undefined, `expected ${RATE_FORM}`)
/** Of the preview that the asker has seen. */
const BOUND = { selectedAt: instant.optional() }
const REDRIVE = { verb: z.literal('redrive'), selection: SELECTION, abandoned: z.enum(['left', 'too']).optional() }
const PREVIEW = z.strictObject({
  verb: z.enum(['redrive', 'discard']),
  selection: SELECTION,
  abandoned: REDRIVE.abandoned,
})
const CHANGE = z.discriminatedUnion('verb', [
  z.strictObject({ ...REDRIVE, ...BOUND, rate: rate.optional() }),
  z.strictObject({ verb: z.literal('discard'), selection: SELECTION, ...BOUND, note, rate: rate.optional() }),
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
    const { at: diedUntil } = readInput(REDRIVE_ONE, request.body)
    const { id } = request.params
    const change = { selection: { ids: [id] }, diedUntil, operator: operatorOf(request), mode: 'redrive' } as const
    const result = await redrive(access, change)
    if (result.entities === 0) throw await stale(access, id, diedUntil)
    return { id, entities: result.entities }
  })
  app.post<OfId>('/api/dead/:id/discard', async (request) => {
    const { note: reason, at: diedUntil } = readInput(DISCARD, request.body)
    const { id } = request.params
    const change = {
      selection: { ids: [id] },
      diedUntil,
      operator: operatorOf(request),
      reason,
      mode: 'discard',
    } as const
    const result = await discard(access, change)
    if (result.entities === 0) throw await stale(access, id, diedUntil)
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
      ...{ verb: asked.verb, selection: asked.selection, diedUntil: asked.selectedAt, operator: operatorOf(request) },
      rate: asked.rate === undefined ? undefined : { text: asked.rate, intervalMs: parseRate(asked.rate) ?? 0 },
      note: asked.verb === 'discard' ? asked.note : undefined,
      abandoned: asked.verb === 'redrive' ? asked.abandoned : undefined,
    })
  })
  app.get('/api/letter-changes', (): LetterChangesAnswer => ({ changes: changes.all() }))
  app.delete<OfId>('/api/letter-changes/:id', async (request): Promise<LetterChangeAnswer> => {
    return await changes.stop(request.params.id, operatorOf(request))
  })
}

interface Previewed {
  readonly verb: 'redrive' | 'discard'
  readonly selection: LetterSelection
  readonly abandoned: 'left' | 'too' | undefined
  readonly operator: ReturnType<typeof operatorOf>
}

async function preview(access: ServiceAccess, asked: Previewed): Promise<LetterPreviewAnswer> {
  const { verb } = asked
  // Before the look itself: what dies meanwhile is in neither.
  const selectedAt = await readTime(access.store)
  const request = { ...asked, diedUntil: selectedAt, mode: 'preview' } as const
  if (verb === 'redrive') {
    const { entities, runs, abandonedLeft, settled } = await redrive(access, request)
    return { entities, runs, abandonedLeft, selectedAt, settled }
  }
  const { entities, runs, settled } = await discard(access, { ...request, reason: 'a preview' })
  return { entities, runs, abandonedLeft: 0, selectedAt, settled }
}

/** Somebody else was first, or it died again since it was seen: the asker is told what the letter is by now. */
async function stale(access: ServiceAccess, id: string, seenAt = Number.POSITIVE_INFINITY): Promise<CronceError> {
  const { state, at } = await showDeadLetter(access.store, id)
  const isNewer = state === 'open' && at > seenAt
  const present = isNewer ? `open again: it died at ${new Date(at).toISOString()}` : state
  return new CronceError('CRONCE_CONSOLE_STALE', { id, state: present })
}
