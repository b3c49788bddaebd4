import { auditService, type ServiceAccess } from '@cronce/operations'
import { listForgottenJobs, listJobNames, readTime, type Store } from '@cronce/store'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { readInput } from './input.ts'
import { instant } from './instant-text.ts'
import type { JobAuditAnswer, JobAuditsAnswer } from './job-answers.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Longest range that one request audits; the history in detail is no longer either. */
const LONGEST_MS = 31 * DAY_MS

const AUDIT = z
  .strictObject({
    limit: z.coerce.number().int().min(1).max(100).default(25),
    cursor: z.string().min(1).max(8_192).optional(),
    job: z.string().min(1).max(8_192).optional(),
    from: instant.optional(),
    to: instant.optional(),
    hours: z.coerce.number().min(1).max(744).default(24),
  })
  .refine(({ from, to, hours }) => (to ?? Number.MAX_SAFE_INTEGER) - (from ?? 0) > 0 && hours > 0, {
    path: ['to'],
    message: 'expected an instant after from',
  })

type AuditQuery = z.infer<typeof AUDIT>

/** Expected against recorded, job by job. */
export function addAuditRoutes(app: FastifyInstance, { store }: ServiceAccess): void {
  app.get('/api/audit/jobs', async ({ query }) => await auditJobs(store, readInput(AUDIT, query)))
}

/** A page of jobs by name, each audited over the same range; removed jobs among them, as long as their ledger is there. */
async function auditJobs(store: Store, query: AuditQuery): Promise<JobAuditsAnswer> {
  const { limit, cursor, job, hours } = query
  const now = await readTime(store)
  const toAt = query.to ?? now
  const fromAt = Math.max(query.from ?? toAt - hours * HOUR_MS, toAt - LONGEST_MS)
  const names = job === undefined ? await namesAfter(store, cursor) : [job]
  const shown = names.slice(0, limit)
  const jobs: JobAuditAnswer[] = []
  const slots: JobAuditsAnswer['slots'][number][] = []
  // One after another: each looks at several jobs' worth of ledger already.
  for (const name of shown) {
    const audit = await auditService(store, { job: name, fromAt, toAt })
    const { outcome, expected, recorded, missing, double, unexpected, unreadable } = audit
    jobs.push({
      ...{ job: name, outcome, expected, recorded, missing, double, unexpected },
      fault: unreadable[0]?.reason ?? '',
    })
    slots.push(...audit.slots.map((row) => ({ ...row, slot: row.slot ?? null })))
  }
  return {
    ...{ now, fromAt, toAt, jobs, slots },
    next: names.length > shown.length ? (shown.at(-1) ?? null) : null,
  }
}

async function namesAfter(store: Store, after: string | undefined): Promise<string[]> {
  const lists = await Promise.all([listJobNames(store), listForgottenJobs(store)])
  const names = [...new Set(lists.flat())].toSorted()
  return after === undefined ? names : names.filter((name) => name > after)
}
