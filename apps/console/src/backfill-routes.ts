import { type Clock, parseRate, RATE_FORM } from '@cronce/core'
import { planBackfill, type ServiceAccess } from '@cronce/operations'
import { readTime } from '@cronce/store'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { Backfills, planAnswer } from './backfills.ts'
import { readInput } from './input.ts'
import { instant } from './instant-text.ts'
import type { BackfillsAnswer } from './job-answers.ts'
import { operatorOf } from './request-operator.ts'

/** `2/min` as the least time between two starts, ms. */
const rate = z.string().transform((text, context) => {
  const intervalMs = parseRate(text)
  if (intervalMs !== undefined) return Math.ceil(intervalMs)
  context.addIssue(`expected ${RATE_FORM}`)
  return z.NEVER
})

const RANGE = { from: instant, to: instant }
const PREVIEW = z.strictObject(RANGE)
const START = z.strictObject({
  ...RANGE,
  rate: rate.optional(),
  note: z.string().trim().min(1).max(1_000).optional(),
  /** How many the asker was shown that would run; another count by now is refused. */
  expected: z.number().int().min(0).optional(),
})

interface OfJob {
  Params: { job: string }
}

/** Runs the slots of a range that never ran: what it comes to, begin, how far it is, stop. */
export function addBackfillRoutes(app: FastifyInstance, access: ServiceAccess, clock: Clock): void {
  const { store } = access
  const backfills = new Backfills(access, clock)

  app.get<OfJob>('/api/jobs/:job/backfill', async ({ params }): Promise<BackfillsAnswer> => {
    return { now: await readTime(store), backfill: backfills.of(params.job) ?? null }
  })
  app.get<OfJob>('/api/jobs/:job/backfill/preview', async ({ params, query }) => {
    const { from, to } = readInput(PREVIEW, query)
    return planAnswer(await planBackfill(store, { job: params.job, fromAt: from, toAt: to }))
  })
  app.post<OfJob>('/api/jobs/:job/backfill', async (request, reply) => {
    const { from, to, rate: intervalMs = 0, note: why, expected } = readInput(START, request.body)
    const range = { job: request.params.job, fromAt: from, toAt: to }
    const operator = operatorOf(request)
    return await reply.code(202).send(await backfills.start({ ...range, operator, why, intervalMs, expected }))
  })
  app.post<OfJob>('/api/jobs/:job/backfill/stop', async (request) => {
    readInput(z.strictObject({}), request.body)
    return await backfills.stop(request.params.job, operatorOf(request))
  })
  app.addHook('preClose', async () => await backfills.close())
}
