import { type Clock, CronceError } from '@cronce/core'
import { planBackfill, type ServiceAccess } from '@cronce/operations'
import { readTime } from '@cronce/store'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { Backfills, planAnswer } from './backfills.ts'
import { readInput } from './input.ts'
import { instant } from './instant-text.ts'
import type { BackfillsAnswer } from './job-answers.ts'
import { operatorOf } from './request-operator.ts'

const RATE = /^(\d{1,4}(?:\.\d{1,3})?)\/(s|min|h)$/
const RATE_MS: Readonly<Record<string, number>> = { s: 1_000, min: 60_000, h: 3_600_000 }

/** `2/min` as the least time between two starts, ms. */
const rate = z.string().transform((text, context) => {
  const [, count = '', unit = ''] = RATE.exec(text) ?? []
  const perUnit = Number(count)
  if (perUnit > 0) return Math.ceil((RATE_MS[unit] ?? 0) / perUnit)
  context.addIssue('expected a rate such as 2/min, 30/h or 0.5/s')
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
    if (expected !== undefined) {
      const { toRun } = await planBackfill(store, range)
      const state = `another range: ${toRun.length} slots would run, not ${expected}`
      if (toRun.length !== expected) throw new CronceError('CRONCE_CONSOLE_STALE', { id: range.job, state })
    }
    return await reply.code(202).send(await backfills.start({ ...range, operator, why, intervalMs }))
  })
  app.post<OfJob>('/api/jobs/:job/backfill/stop', async (request) => {
    readInput(z.strictObject({}), request.body)
    return backfills.stop(request.params.job)
  })
  app.addHook('preClose', async () => await backfills.close())
}
