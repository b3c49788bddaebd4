import { CronceError } from '@cronce/core'
import type { PostgresAdapter, PostgresSession } from './postgres-adapter.ts'
import { isBusy } from './sql-state.ts'

const DAY_MS = 86_400_000

/** Receipts are kept at least this long, ms: dead letters can be redriven for as long. */
export const LEAST_KEEP_MS = 30 * DAY_MS

/** How long receipts are kept by default, ms. */
export const DEFAULT_KEEP_MS = 90 * DAY_MS

/** How long a run is at rest before its receipts fold, by default, ms. */
export const DEFAULT_FOLD_AFTER_MS = 2 * DAY_MS

/** Months made ahead of the present one. */
const MONTHS_AHEAD = 2

/** How long a change of tables waits for effects under way, ms. */
const LOCK_MS = 1_000

/** Runs folded in one call at most, each in a transaction of its own. */
const MOST_FOLDS = 1_000

/** In the order in which effects lock them. */
const TABLES = ['chunk', 'receipt', 'fold'] as const

export interface MaintainOptions {
  /** The present instant, epoch ms: `systemClock.now()`. */
  readonly now: number
  /** How long receipts are kept, ms, counted from the later of the slot's instant and the run's last activity. Default 90 days. */
  readonly keepMs?: number
  /** How long after its last activity a run's receipts fold, ms. Default 2 days. */
  readonly foldAfterMs?: number
}

/** What was done. Months are written `2026-11`. */
export interface Maintained {
  readonly created: readonly string[]
  readonly dropped: readonly string[]
  /** Months left for the next call: effects held their tables for longer than maintenance waits. */
  readonly busy: readonly string[]
  readonly folded: { readonly runs: number; readonly receipts: number }
}

/**
 * R3, R5: makes the tables of the coming months, folds the receipts of runs at rest and drops months that are past keeping. Call it
 * once a day from one place (a job of Cronce's own will do); calling it more often, or from several at once, does no harm.
 *
 * @throws CronceError CRONCE_RECEIPT_RETENTION: shorter than redrive may need
 * @example await maintainReceipts(pgAdapter(pool), { now: systemClock.now() })
 */
export async function maintainReceipts(adapter: PostgresAdapter, options: MaintainOptions): Promise<Maintained> {
  const { now, keepMs = DEFAULT_KEEP_MS, foldAfterMs = DEFAULT_FOLD_AFTER_MS } = options
  if (!(keepMs >= LEAST_KEEP_MS)) {
    throw new CronceError('CRONCE_RECEIPT_RETENTION', { least: LEAST_KEEP_MS / DAY_MS, got: keepMs / DAY_MS })
  }
  const [created, dropped, busy]: [string[], string[], string[]] = [[], [], []]
  for (let ahead = 0; ahead <= MONTHS_AHEAD; ahead++) {
    const month = monthOf(now, ahead)
    const answer = await change(adapter, (session) => createMonth(session, month))
    if (answer === 'changed') created.push(month.name)
    if (answer === 'busy') busy.push(month.name)
  }
  for (const month of await monthsBefore(adapter, now - keepMs)) {
    const answer = await change(adapter, (session) => dropMonth(session, month, now - keepMs))
    if (answer === 'changed') dropped.push(month)
    if (answer === 'busy') busy.push(month)
  }
  await dropRest(adapter, now - keepMs)
  const folded = await foldRuns(adapter, { now, before: now - foldAfterMs })
  return { created, dropped, busy, folded }
}

type Change = 'changed' | 'as it was'

/**
 * One change of tables. While it waits for the effects under way, others wait behind it: so it waits shortly, and tomorrow is soon
 * enough, since months are made ahead and rows without one go to the rest.
 */
async function change(
  adapter: PostgresAdapter,
  work: (session: PostgresSession) => Promise<Change>,
): Promise<Change | 'busy'> {
  try {
    return await adapter.transaction(async (session) => {
      await session.query(`set local lock_timeout = '${LOCK_MS}ms'`)
      // One at a time: two that look for the same month would both make it.
      await session.query(`select pg_advisory_xact_lock(hashtextextended('cronce.months', 0))`)
      return await work(session)
    })
  } catch (error) {
    if (isBusy(error)) return 'busy'
    throw error
  }
}

interface Month {
  readonly name: string
  readonly from: string
  readonly to: string
}

/** The month (UTC) that is `ahead` months after the one of an instant. */
function monthOf(at: number, ahead = 0): Month {
  const date = new Date(at)
  const start = (months: number) => new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months))
  return {
    name: start(ahead).toISOString().slice(0, 7),
    from: start(ahead).toISOString(),
    to: start(ahead + 1).toISOString(),
  }
}

function partition(table: string, month: string): string {
  return `${table}_${month.replace('-', '_')}`
}

async function createMonth(session: PostgresSession, { name, from, to }: Month): Promise<Change> {
  if (await exists(session, partition('receipt', name))) return 'as it was'
  const span = `slot_at >= '${from}' and slot_at < '${to}'`
  for (const table of TABLES) {
    const own = `cronce.${partition(table, name)}`
    await session.query(`lock table cronce.${table} in share row exclusive mode`)
    await session.query(`create table ${own} (like cronce.${table} including all)`)
    // What came before its month was made, into the rest: a partition is refused while the rest has rows of it.
    await session.query(
      `with moved as (delete from cronce.${table}_rest where ${span} returning *) insert into ${own} select * from moved`,
    )
    await session.query(`alter table cronce.${table} attach partition ${own} for values from ('${from}') to ('${to}')`)
  }
  return 'changed'
}

async function exists(session: PostgresSession, table: string): Promise<boolean> {
  const { rows } = await session.query(`select to_regclass('cronce.${table}')::text as name`)
  return rows[0]?.['name'] != null
}

/** Months whose last slot is before an instant. */
async function monthsBefore(adapter: PostgresAdapter, at: number): Promise<string[]> {
  const { rows } = await adapter.query(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'cronce.receipt'::regclass and c.relname ~ '^receipt_[0-9]{4}_[0-9]{2}$' order by 1`,
  )
  const months = rows.map((row) => String(row['name']).slice('receipt_'.length).replace('_', '-'))
  const cutoff = new Date(at).toISOString()
  return months.filter((month) => monthOf(Date.parse(`${month}-01T00:00:00Z`)).to <= cutoff)
}

async function dropMonth(session: PostgresSession, month: string, cutoffAt: number): Promise<Change> {
  const chunks = partition('chunk', month)
  if (!(await exists(session, chunks))) return 'as it was'
  for (const table of TABLES) await session.query(`lock table cronce.${table} in access exclusive mode`)
  // R5: a run that was redriven lately keeps its month.
  const cutoff = new Date(cutoffAt).toISOString()
  const active = await session.query(`select 1 as found from cronce.${chunks} where touched_at >= '${cutoff}' limit 1`)
  if (active.rows.length > 0) return 'as it was'
  for (const table of TABLES) await session.query(`drop table cronce.${partition(table, month)}`)
  return 'changed'
}

/** The rest is small: slots of months that maintenance came too late for. */
async function dropRest(adapter: PostgresAdapter, cutoffAt: number): Promise<void> {
  const cutoff = new Date(cutoffAt).toISOString()
  const active =
    `select from cronce.chunk_rest c where c.slot_at = t.slot_at and c.service = t.service and c.slot = t.slot ` +
    `and c.touched_at >= '${cutoff}'`
  await adapter.transaction(async (session) => {
    for (const table of TABLES.toReversed()) {
      await session.query(`delete from cronce.${table}_rest t where t.slot_at < '${cutoff}' and not exists (${active})`)
    }
  })
}

async function foldRuns(
  adapter: PostgresAdapter,
  { now, before }: { now: number; before: number },
): Promise<{ runs: number; receipts: number }> {
  const { rows } = await adapter.query(
    `select to_char(slot_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as slot_at, service, slot from cronce.chunk
     group by 1, 2, 3 having bool_or(folded_at is null) and max(touched_at) < '${new Date(before).toISOString()}'
     order by 1 limit ${MOST_FOLDS}`,
  )
  let [runs, receipts] = [0, 0]
  for (const row of rows) {
    const values = [row['slot_at'], row['service'], row['slot'], now]
    const text = 'select cronce.fold_run($1::timestamptz, $2::text, $3::text, $4::float8) as answer'
    const answer = await adapter.query(text, values)
    const folded = Number(answer.rows[0]?.['answer'])
    if (folded < 0) continue
    runs += 1
    receipts += folded
  }
  return { runs, receipts }
}
