import {
  countBetween,
  formatSlotKey,
  type JobSettings,
  nextSlot,
  RUN_STATES,
  type SlotKey,
  slotsBetween,
  spreadOffsetMs,
} from '@cronce/core'
import { type LedgerEntry, listGaps, listJobNames, listSlots, listUnended, type Store } from '@cronce/store'
import { findJob, type KnownJob } from './known-job.ts'
import { type Company, describeDelay, describeRun } from './overdue-reason.ts'
import { listPresence } from './presence.ts'

/** A slot that should have started, or ended, by now. Instants in epoch ms. */
export interface OverdueRow {
  readonly slot: SlotKey
  readonly job: string
  readonly kind: 'start' | 'finish'
  /** The nominal instant. */
  readonly at: number
  /** How long ago it was due, in its effective instant. */
  readonly sinceMs: number
  /** The tolerance that it went beyond. */
  readonly toleranceMs: number
  readonly reason: string
  /** Slots of the job that are overdue likewise, this one the oldest of them. */
  readonly count: number
  /** Undefined where the schedule is an interval, whose clock is UTC. */
  readonly zone: string | undefined
}

/** Slots of one job that are looked at. */
const MOST_SLOTS = 200
const MOST_KNOWN = 1_000

/**
 * What is overdue: from the ledger, the tolerances and who is there. Nothing is overdue of a job that is paused, or that this
 * release cannot read.
 */
export async function listOverdue(store: Store): Promise<OverdueRow[]> {
  const [names, company] = await Promise.all([listJobNames(store), listPresence(store)])
  const jobs = await Promise.all(names.map((name) => findJob(store, name)))
  const known = jobs.filter((job) => job !== undefined)
  const rows = await Promise.all(known.map((job) => overdueOf(store, job, company)))
  return oncePerCondition(rows.flat()).toSorted((a, b) => b.sinceMs - a.sinceMs || (a.slot < b.slot ? -1 : 1))
}

/** The oldest slot of each job, kind and reason stands for those after it: a job of every second is one row, not hundreds. */
function oncePerCondition(rows: readonly OverdueRow[]): OverdueRow[] {
  const conditions = new Map<string, OverdueRow>()
  for (const row of rows) {
    const condition = JSON.stringify([row.job, row.kind, row.reason])
    const known = conditions.get(condition)
    const oldest = known === undefined || row.sinceMs > known.sinceMs ? row : known
    conditions.set(condition, { ...oldest, count: row.count + (known?.count ?? 0) })
  }
  return [...conditions.values()]
}

async function overdueOf(store: Store, job: KnownJob, company: Company): Promise<OverdueRow[]> {
  const { settings, stored } = job
  if (settings === undefined || stored.pause !== undefined) return []
  const [unended, unseen] = await Promise.all([
    listUnended(store, settings.name, MOST_SLOTS),
    firstUnseen(store, job, company.now),
  ])
  const known = unended.flatMap((entry) => rowOfEntry(entry, settings, company))
  if (unseen === undefined) return known
  return [
    ...known,
    { ...rowOf(settings, unseen.at, company.now), reason: describeDelay(settings, company), count: unseen.count },
  ]
}

/** The oldest slot beyond its tolerance that the ledger knows nothing of, and how many there are at most. */
async function firstUnseen(
  store: Store,
  { settings, stored }: KnownJob,
  now: number,
): Promise<{ at: number; count: number } | undefined> {
  if (settings === undefined) return undefined
  const { name, schedule, tolerance } = settings
  const afterAt = Math.max(stored.watermarkAt, stored.sinceAt)
  const untilAt = Math.min(now, stored.goneAt ?? now) - tolerance.startMs - spreadOffsetMs(name, schedule)
  const first = nextSlot(schedule, afterAt)
  if (first === undefined || first > untilAt) return undefined
  const [entries, gaps] = await Promise.all([
    listSlots(store, name, { fromAt: first, untilAt, limit: MOST_KNOWN }),
    listGaps(store, name, { afterAt, limit: MOST_KNOWN }),
  ])
  const recorded = new Set(entries.filter(({ id }) => !id.includes('+')).map(({ at }) => at))
  let looked = 0
  for (const at of slotsBetween(schedule, afterAt, untilAt)) {
    const isInGap = gaps.some(({ fromAt, toAt }) => fromAt < at && at <= toAt)
    if (!recorded.has(at) && !isInGap) return { at, count: countBetween(schedule, at - 1, untilAt) }
    looked += 1
    if (looked > MOST_KNOWN) return undefined
  }
  return undefined
}

function rowOfEntry(entry: LedgerEntry, settings: JobSettings, company: Company): OverdueRow[] {
  const { tolerance, enqueue } = settings
  const hasStarted = entry.state === 'running'
  // A plain BullMQ worker reports neither starts nor ends: its runs end, for us, on the queue.
  if (enqueue !== undefined && RUN_STATES[entry.state] === 'active') return []
  const kind = hasStarted ? 'finish' : 'start'
  const toleranceMs = hasStarted ? tolerance.finishMs : tolerance.startMs
  const sinceMs = company.now - entry.effectiveAt
  if (sinceMs <= toleranceMs) return []
  const row = rowOf(settings, entry.at, company.now)
  return [
    { ...row, slot: entry.slot, kind, sinceMs, toleranceMs, reason: describeRun(entry, settings, company), count: 1 },
  ]
}

function rowOf(
  { name, schedule, tolerance }: JobSettings,
  at: number,
  now: number,
): Omit<OverdueRow, 'reason' | 'count'> {
  return {
    slot: formatSlotKey({ job: name, at }),
    job: name,
    kind: 'start',
    at,
    sinceMs: now - at - spreadOffsetMs(name, schedule),
    toleranceMs: tolerance.startMs,
    zone: schedule.kind === 'cron' ? schedule.zone : undefined,
  }
}
