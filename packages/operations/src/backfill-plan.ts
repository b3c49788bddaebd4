import { formatSlotId, type SlotId, type SlotKey, slotKeyOf } from '@cronce/core'
import {
  listGaps,
  type RecordedGap,
  readSlot,
  readTime,
  type Store,
  slotIds,
  takenBeforeRegistration,
} from '@cronce/store'
import { countOwed, type OwedSpan, owedBetween } from './audit-owed.ts'
import { type BackfillVerdict, judgeSlot, type SlotFacts } from './backfill-verdict.ts'
import { refused } from './request-faults.ts'
import { type OwnedJob, requireOwnedJob } from './slot-owners.ts'

/** A range of a job's slots: nominal instants, epoch ms, `from` included, `to` not. */
export interface BackfillRange {
  readonly job: string
  readonly fromAt: number
  readonly toAt: number
}

/** One slot that a backfill runs. */
export interface BackfillSlot {
  readonly slot: SlotKey
  readonly id: SlotId
  readonly at: number
  readonly owner: OwedSpan
}

/** What a backfill would do. */
export interface BackfillPlan extends BackfillRange {
  /** How many slots the range has, by the schedule that owned each; before the registration, by the job's first. */
  readonly slots: number
  /** Oldest first. */
  readonly toRun: readonly BackfillSlot[]
  readonly done: number
  readonly underWay: number
  /** The rest, by the reason for which they do not run. */
  readonly refused: readonly { readonly reason: string; readonly count: number }[]
}

/** Slots that one backfill is for. More are asked for range by range. */
export const MOST_BACKFILL_SLOTS = 10_000

/** Records and gaps that are read at once. */
const READ_AT_ONCE = 500

/**
 * What a backfill of a range comes to, as the ledger stands now. Changes nothing.
 *
 * @throws CronceError CRONCE_JOB_UNKNOWN, CRONCE_JOB_UNREADABLE, CRONCE_JOB_HELD, CRONCE_INPUT_INVALID
 */
export async function planBackfill(store: Store, range: BackfillRange): Promise<BackfillPlan> {
  const { job: name, fromAt, toAt } = range
  if (!(fromAt < toAt)) throw refused('to', 'an instant after from', new Date(toAt).toISOString())
  const job = await requireOwnedJob(store, name)
  const spans = spansOf(job, fromAt)
  const slots = countOwed(spans, fromAt - 1, toAt - 1)
  if (slots > MOST_BACKFILL_SLOTS) throw refused('the range', `one of at most ${MOST_BACKFILL_SLOTS} slots`, slots)
  const [now, records, gaps, taken] = await Promise.all([
    readTime(store),
    readRecords(store, range),
    readGaps(store, range),
    takenBeforeRegistration(store, name, { fromAt, untilAt: toAt - 1 }),
  ])
  const takenBefore = new Set(taken)
  const { watermarkAt, registeredAt } = job.stored
  const standing = { now, watermarkAt, registeredAt }
  const toRun: BackfillSlot[] = []
  const counts = new Map<BackfillVerdict, number>()
  for (const span of spans) {
    for (const at of owedBetween([span], fromAt - 1, toAt - 1)) {
      const id = formatSlotId(at)
      const gap = gaps.find((each) => at > each.fromAt && at <= each.toAt)?.state
      const verdict = judgeSlot({
        ...{ at, effectiveAt: at + span.spreadMs, gap, ...standing },
        record: records.get(id),
        takenBefore: takenBefore.has(id),
      })
      counts.set(verdict, (counts.get(verdict) ?? 0) + 1)
      if (verdict === 'to-run') toRun.push({ slot: slotKeyOf({ job: name, id }), id, at, owner: span })
    }
  }
  const count = (verdict: BackfillVerdict) => counts.get(verdict) ?? 0
  const refusals = [...counts].filter(([verdict]) => !PLANNED.includes(verdict))
  return {
    ...range,
    ...{ slots, toRun, done: count('done'), underWay: count('under-way') },
    refused: refusals.map(([reason, number]) => ({ reason, count: number })),
  }
}

const PLANNED: readonly BackfillVerdict[] = ['to-run', 'done', 'under-way']

/** A backfill reaches back before the registration; nothing was owed there, and the first schedule says what would have been. */
function spansOf({ owners }: OwnedJob, fromAt: number): readonly OwedSpan[] {
  const [first] = owners
  if (first === undefined || fromAt > first.afterAt) return owners
  return [{ ...first, afterAt: fromAt - 1, untilAt: first.afterAt }, ...owners]
}

async function readRecords(
  store: Store,
  { job, fromAt, toAt }: BackfillRange,
): Promise<ReadonlyMap<string, SlotFacts['record']>> {
  const records = new Map<string, SlotFacts['record']>()
  for (let offset = 0; ; offset += READ_AT_ONCE) {
    const ids = await slotIds(store, job, { fromAt, untilAt: toAt - 1, offset, limit: READ_AT_ONCE })
    const scheduled = ids.filter((id) => !id.includes('+'))
    const entries = await Promise.all(scheduled.map((id) => readSlot(store, job, id)))
    for (const entry of entries) if (entry !== undefined) records.set(entry.id, entry)
    if (ids.length < READ_AT_ONCE) return records
  }
}

async function readGaps(store: Store, { job, fromAt, toAt }: BackfillRange): Promise<readonly RecordedGap[]> {
  const gaps: RecordedGap[] = []
  for (let afterAt = fromAt - 1; ; ) {
    const page = await listGaps(store, job, { afterAt, limit: READ_AT_ONCE })
    gaps.push(...page)
    const last = page.at(-1)
    if (page.length < READ_AT_ONCE || last === undefined || last.toAt >= toAt) return gaps
    afterAt = last.toAt
  }
}
