import { cron, defineJob } from '@cronce/core'
import { z } from 'zod'

/** What both sides are given: one account to work on. */
const account = z.object({
  id: z.string().min(1).max(64),
  plan: z.enum(['free', 'team', 'company']),
  balance: z.int(),
})

export type Account = z.output<typeof account>

const PLANS = ['free', 'team', 'company'] as const

/** A made-up account; the same index gives the same one. */
export function accountAt(index: number): Account {
  return { id: accountId(index), plan: PLANS[index % 3] ?? 'free', balance: (index * 7919) % 100_000 }
}

/** One page of the first `count` accounts, in the order of their ids. */
export function accountPage({ after, limit, count }: { after: string | undefined; limit: number; count: number }) {
  const from = after === undefined ? 0 : Number(after.slice(ID_PREFIX.length)) + 1
  return Array.from({ length: Math.max(0, Math.min(limit, count - from)) }, (_, index) => accountAt(from + index))
}

const ID_PREFIX = 'account-'

function accountId(index: number): string {
  return `${ID_PREFIX}${String(index).padStart(8, '0')}`
}

/** The namespace of the measured jobs. */
export const SERVICE = 'fanout'

const settings = {
  schedule: cron('0 2 * * *'),
  onCrash: 'complete',
  overlap: 'allow',
  entity: { schema: account, key: ({ id }: Account) => id },
  chunk: { size: 100, concurrency: 100 },
  timeout: '30s',
} as const

/** The work is nothing at all: what is measured is what surrounds it. */
export const noopJob = defineJob({ ...settings, name: 'noop' })

/** One effect per entity under `ctx.once`: a lease and a receipt, each a write of its own. */
export const onceJob = defineJob({ ...settings, name: 'once' })

/** Receipts in Postgres, those of a chunk in one transaction. */
export const bulkJob = defineJob({ ...settings, name: 'bulk' })

/** Receipts in Postgres, each in a transaction of its own. */
export const transactionJob = defineJob({ ...settings, name: 'transaction' })
