import { cron, defineJob } from '@cronce/core'
import { handle, inThread, NonRetryableError, RetryLaterError } from '@cronce/worker'
import { z } from 'zod'

// The examples of docs/handlers.md: compiled here, and compared with the page by handlers-doc.test.ts.

interface Account {
  readonly id: string
  readonly closed: boolean
  readonly amount: number
}
declare const accounts: {
  page(query: { after: string | undefined; limit: number; closedBefore: number }): Promise<readonly Account[]>
  stream(): AsyncIterable<Account>
}
declare const billing: {
  invoice(account: Account, key: string): Promise<void>
  chargeAll(charges: readonly { id: string; key: string }[]): Promise<void>
}
declare const mail: { report(text: string, key: string): Promise<void> }
declare const storage: { put(name: string, data: string): Promise<void> }
declare class Throttled extends Error {
  readonly seconds: number
}

const schema = z.object({ id: z.string(), closed: z.boolean(), amount: z.number() })
const job = {
  schedule: cron('0 2 * * *'),
  onCrash: 'complete',
  entity: { schema, key: ({ id }: Account) => id },
} as const
const invoiceRun = defineJob({ ...job, name: 'invoice-run' })
const statements = defineJob({ ...job, name: 'statements' })

const invoices = handle(invoiceRun, {
  entities: ({ after, limit, slot }) => accounts.page({ after, limit, closedBefore: slot.at }),
  each: async (account, ctx) => {
    await ctx.once('invoice', () => billing.invoice(account, ctx.idempotencyKey('invoice')))
  },
  done: async ({ counts, slot }, ctx) => {
    await mail.report(`${slot.key}: ${counts.done} of ${counts.planned}`, ctx.idempotencyKey('report'))
  },
})

const streamed = handle(invoiceRun, {
  entities: () => accounts.stream(),
  each: (account, ctx) => ctx.once('invoice', () => billing.invoice(account, ctx.idempotencyKey('invoice'))),
})

const patient = handle(invoiceRun, {
  entities: ({ after, limit, slot }) => accounts.page({ after, limit, closedBefore: slot.at }),
  each: async (account, ctx) => {
    if (account.closed) throw new NonRetryableError('the account was closed')
    try {
      await billing.invoice(account, ctx.idempotencyKey('invoice'))
    } catch (error) {
      if (error instanceof Throttled) throw new RetryLaterError({ after: `${error.seconds}s`, cause: error })
      throw error
    }
  },
})

const bulk = handle(invoiceRun, {
  entities: ({ after, limit, slot }) => accounts.page({ after, limit, closedBefore: slot.at }),
  eachChunk: async (chunk, ctx) => {
    await ctx.transaction('invoice', (tx, due) =>
      tx.query('insert into invoice (account, amount) select * from unnest($1::text[], $2::numeric[])', [
        due.map(({ id }) => id),
        due.map(({ amount }) => amount),
      ]),
    )
    ctx.log.info({ accounts: chunk.length }, 'invoiced')
  },
  each: async (account, ctx) => {
    await ctx.transaction('invoice', (tx) =>
      tx.query('insert into invoice (account, amount) values ($1, $2)', [account.id, account.amount]),
    )
  },
})

const charged = handle(invoiceRun, {
  entities: ({ after, limit, slot }) => accounts.page({ after, limit, closedBefore: slot.at }),
  eachChunk: (chunk, ctx) =>
    billing.chargeAll(chunk.map((account) => ({ id: account.id, key: ctx.idempotencyKey(account, 'charge') }))),
})

const payout = defineJob({
  name: 'payout',
  schedule: cron('0 2 * * *'),
  onCrash: 'complete',
  redact: ['iban', 'owner.name'],
})

const limited = defineJob({
  name: 'reminders',
  schedule: cron('0 8 * * *', { zone: 'Europe/Berlin' }),
  onCrash: 'skip',
  limit: { concurrency: 4, rate: { max: 100, per: '1s' } },
})

const render = inThread<(account: Account) => string>(new URL('./render.js', import.meta.url))
const rendered = handle(statements, {
  entities: () => accounts.stream(),
  each: async (account, ctx) => {
    const pdf = await render(account, ctx)
    await ctx.once('store', () => storage.put(account.id, pdf))
  },
})

/** Every handler of the page. */
export const EXAMPLES = [invoices, streamed, patient, bulk, charged, rendered]

/** Every definition of the page. */
export const DEFINITIONS = [payout, limited]
