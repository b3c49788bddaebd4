import { RUN_STATES, type RunState } from '@cronce/core'
import { type Audit, auditService, type ServiceAccess } from '@cronce/operations'
import { readTime } from '@cronce/store'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { SchedulesAnswer } from './answers.ts'
import { readInput } from './input.ts'
import { readPresence } from './presence-answer.ts'
import { readRun } from './run-details.ts'
import { readSchedules } from './schedules.ts'
import { readLetter, readLetters, readRuns } from './service-answers.ts'
import { shareReading } from './shared-reading.ts'

const HOUR_MS = 3_600_000

const limit = (unset: number, most: number) => z.coerce.number().int().min(1).max(most).default(unset)
const text = z.string().min(1).max(8_192).optional()

const SCHEDULES = z.strictObject({ limit: limit(50, 200), cursor: text, name: text })
const RUNS = z.strictObject({
  limit: limit(50, 200),
  cursor: text,
  job: text,
  state: z.enum(Object.keys(RUN_STATES) as [RunState, ...RunState[]]).optional(),
})
const instant = z.coerce.number().int().min(0).max(8.64e15).optional()
const LETTERS = z.strictObject({
  ...{ limit: limit(50, 200), cursor: text },
  ...{ job: text, slot: text, error: text, fromAt: instant, toAt: instant },
})

/** Hours of every job at once that one request audits; of one job it is a month. */
const LONGEST_AUDIT = 48

const AUDIT = z
  .strictObject({ hours: z.coerce.number().int().min(1).max(744).default(24), job: text })
  .refine(({ hours, job }) => job !== undefined || hours <= LONGEST_AUDIT, {
    path: ['hours'],
    message: `expected at most ${LONGEST_AUDIT} of every job; /api/audit/jobs audits longer ranges page by page`,
  })

/** What anybody who is signed in may read. */
export function addReadRoutes(
  app: FastifyInstance,
  access: ServiceAccess,
  { traceUrl }: { readonly traceUrl: string | undefined },
): void {
  const { store } = access
  const share = shareReading<SchedulesAnswer>()
  const shareAudit = shareReading<Audit>()
  app.get('/api/schedules', async ({ query }) => {
    const { limit: most, cursor, name } = readInput(SCHEDULES, query)
    const request = { limit: most, after: cursor, part: name }
    return await share(JSON.stringify(request), () => readSchedules(access, request))
  })
  app.get('/api/runs', async ({ query }) => await readRuns(store, readInput(RUNS, query)))
  app.get<{ Params: { slot: string } }>(
    '/api/runs/:slot',
    async ({ params }) => await readRun(store, params.slot, { traceUrl }),
  )
  app.get('/api/dead', async ({ query }) => await readLetters(store, readInput(LETTERS, query)))
  app.get<{ Params: { id: string } }>('/api/dead/:id', async ({ params }) => await readLetter(store, params.id))
  app.get('/api/presence', async () => await readPresence(access))
  app.get('/api/audit', async ({ query }): Promise<Audit> => {
    const { hours, job } = readInput(AUDIT, query)
    return await shareAudit(JSON.stringify({ hours, job }), async () => {
      const now = await readTime(store)
      const range = { fromAt: now - hours * HOUR_MS, toAt: now }
      return await auditService(store, { ...range, ...(job === undefined ? {} : { job }) })
    })
  })
}
