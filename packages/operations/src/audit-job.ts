import { formatSlotId, parseJobSettings, parseSlotId, spreadOffsetMs } from '@cronce/core'
import {
  type DaySum,
  listDays,
  listGenerations,
  readJob,
  readJournal,
  readSlot,
  type Store,
  type StoredJob,
} from '@cronce/store'
import { type LedgerCursor, type OpenSlots, openCursor, readOpenSlots } from './audit-ledger.ts'
import { type DatedSchedule, isOwed, type OwedSpan, overdueSpans, owedSpans } from './audit-owed.ts'
import { type AuditedRecord, compareStretch, type StretchFinding, type StretchSum } from './audit-stretch.ts'

const DAY_MS = 24 * 3600 * 1000

/** What is audited, (after, until], by Redis's now. Instants in epoch ms. */
export interface AuditRange {
  readonly afterAt: number
  readonly untilAt: number
  readonly now: number
  /** What came due later than this may still be on its way. */
  readonly graceAt: number
}

/** What an audit of one job came to. */
export interface JobSum extends Omit<StretchSum, 'findings'> {
  readonly job: string
  readonly findings: readonly StretchFinding[]
  /** Why nothing can be said; empty where something can. */
  readonly fault: string
}

/** How often what does not add up is looked at again: the ledger moves while it is read. */
const TRIES = 3

/** Audits one job. */
export async function auditJob(store: Store, job: string, range: AuditRange): Promise<JobSum> {
  for (let tries = 1; ; tries++) {
    const sum = await auditOnce(store, job, range)
    const isSound = sum.missing + sum.double + sum.unexpected === 0
    if (isSound || tries === TRIES) return sum
  }
}

async function auditOnce(store: Store, job: string, asked: AuditRange): Promise<JobSum> {
  const [stored, generations] = await Promise.all([readJob(store, job), listGenerations(store, job)])
  // T12: of what is no longer kept, nothing can be said.
  const range = { ...asked, afterAt: Math.max(asked.afterAt, (stored?.keptFromAt ?? 0) - 1) }
  if (stored === undefined || range.afterAt >= range.untilAt) return { job, ...NOTHING, findings: [], fault: '' }
  const dated: DatedSchedule[] = []
  for (const { generation, settings, sinceAt, goneAt } of generations) {
    const { ok, faults = [] } = parseJobSettings(settings)
    if (ok === undefined) {
      const fault = faults.map(({ path, message }) => `${path}: ${message}`).join('; ')
      return { job, ...NOTHING, findings: [], fault: `generation ${generation} cannot be read: ${fault}` }
    }
    // A store that lost writes knows a later start than its replicas remembered (S2).
    const since = generation === stored.generation ? Math.min(sinceAt, stored.sinceAt) : sinceAt
    dated.push({ schedule: ok.schedule, spreadMs: spreadOffsetMs(job, ok.schedule), sinceAt: since, goneAt })
  }
  const isHeld = await isHeldUp(store, stored, range)
  const owed = owedSpans(dated, { goneAt: stored.goneAt, now: range.now })
  const graceAt = isHeld ? Number.NEGATIVE_INFINITY : range.graceAt
  const overdue = overdueSpans(owed, { watermarkAt: stored.watermarkAt, graceAt })
  const standing = { watermarkAt: stored.watermarkAt, graceAt: range.graceAt, isHeld }
  const open = await readOpenSlots(store, job, { ...standing, catchUpMs: catchUpOf(stored) })
  return await auditDays({ store, job, range, owed, overdue, open })
}

/** How late backlog may start; the definition in force is read already, among the generations or as a newer image of the last. */
function catchUpOf({ settings }: StoredJob): number {
  return parseJobSettings(settings).ok?.catchUp.withinMs ?? 0
}

/** T10, S2: while a job is paused or restored, nothing is recorded of its slots; the watermark stands. */
async function isHeldUp(
  store: Store,
  { name, pause, restoration }: StoredJob,
  { now, graceAt }: AuditRange,
): Promise<boolean> {
  if (restoration !== undefined) return restoration.untilAt > graceAt
  if (pause === undefined) return false
  if (pause.state === 'paused') return pause.untilAt === undefined || pause.untilAt > graceAt
  const resumed = (await readJournal(store, name)).findLast(({ event }) => event === 'resumed')
  return (resumed?.at ?? now) > graceAt
}

interface DaysRequest {
  readonly store: Store
  readonly job: string
  readonly range: AuditRange
  readonly owed: readonly OwedSpan[]
  readonly overdue: readonly OwedSpan[]
  readonly open: OpenSlots
}

async function auditDays(request: DaysRequest): Promise<JobSum> {
  const { store, job, range } = request
  const folded = await foldedDays(store, job, range)
  const [afterAt, untilAt] = wholeDays(range, folded)
  const cursor = openCursor(store, job, afterAt)
  const sum = { ...NOTHING }
  const findings: StretchFinding[] = []
  for (let from = afterAt; from < untilAt; ) {
    const until = Math.min(untilAt, endOfDay(from))
    const day = await auditDay(request, cursor, { from, until, folded: folded.get(dayOf(until)) ?? 0 })
    for (const count of COUNTS) sum[count] += day[count]
    findings.push(...day.findings.slice(0, MOST_FINDINGS - findings.length))
    from = until
  }
  return { job, ...sum, findings, fault: '' }
}

async function auditDay(
  { store, job, owed, overdue, open }: DaysRequest,
  cursor: LedgerCursor,
  { from, until, folded }: { from: number; until: number; folded: number },
): Promise<StretchSum> {
  const [ids, gaps] = [await cursor.ids(until), await cursor.gaps(from, until)]
  const records = ids.flatMap((id): AuditedRecord[] => {
    const parsed = parseSlotId(id)
    if (parsed === undefined || parsed.manual !== undefined) return []
    if (!open.ids.has(id)) return [{ at: parsed.at, standing: 'recorded' }]
    return [{ at: parsed.at, standing: open.stuck.has(id) ? 'stuck' : 'on-its-way' }]
  })
  const asked = await askedFor(
    store,
    job,
    records.filter(({ at }) => !isOwed(owed, at)),
  )
  const kept = asked.size === 0 ? records : records.filter(({ at }) => !asked.has(at))
  return compareStretch({ afterAt: from, untilAt: until, owed, overdue, records: kept, gaps, folded })
}

/** T11: a backfill may reach before the registration; such slots are no job's and not expected. */
async function askedFor(store: Store, job: string, records: readonly AuditedRecord[]): Promise<ReadonlySet<number>> {
  const asked = new Set<number>()
  for (const { at } of records) {
    const entry = await readSlot(store, job, formatSlotId(at))
    if (entry?.cause === 'backfill' || entry?.cause === 'manual') asked.add(at)
  }
  return asked
}

/** How many slots of each day are folded, runs by hand not among them. */
async function foldedDays(
  store: Store,
  job: string,
  { afterAt, untilAt }: AuditRange,
): Promise<ReadonlyMap<string, number>> {
  const days = await listDays(store, job, { from: dayOf(afterAt + 1), to: dayOf(untilAt) })
  return new Map(
    days.map(({ day, slots }: DaySum) => [day, Object.values(slots).reduce((sum, count) => sum + count, 0)]),
  )
}

/** T12: a day that has a sum is compared as a whole day. */
function wholeDays({ afterAt, untilAt }: AuditRange, folded: ReadonlyMap<string, number>): [number, number] {
  const isFolded = (at: number) => (folded.get(dayOf(at)) ?? 0) > 0
  return [
    isFolded(afterAt + 1) ? endOfDay(afterAt + 1) - DAY_MS : afterAt,
    isFolded(untilAt) ? endOfDay(untilAt - 1) : untilAt,
  ]
}

/** The last millisecond of the UTC day of the instant after `at`. */
function endOfDay(at: number): number {
  return Math.floor((at + 1) / DAY_MS) * DAY_MS + DAY_MS - 1
}

function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
}

/** Findings of one job that are kept; the counts are whole. */
const MOST_FINDINGS = 100

const NOTHING = { expected: 0, recorded: 0, missing: 0, double: 0, unexpected: 0 }
const COUNTS = ['expected', 'recorded', 'missing', 'double', 'unexpected'] as const
