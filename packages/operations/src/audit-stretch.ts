import type { Gap } from '@cronce/store'
import { countOwed, isOwed, type OwedSpan, owedBetween } from './audit-owed.ts'

/** One record of the ledger, in detail. */
export interface AuditedRecord {
  readonly at: number
  /** `on-its-way`: due or claimed, and not for too long; `stuck`: for too long, or passed by the watermark. */
  readonly standing: 'recorded' | 'on-its-way' | 'stuck'
}

/** A stretch of a job's time, (after, until], at most a day, and what the ledger has of it. */
export interface Stretch {
  readonly afterAt: number
  readonly untilAt: number
  /** What is owed in all, and the part of it that must be recorded by now. */
  readonly owed: readonly OwedSpan[]
  readonly overdue: readonly OwedSpan[]
  readonly records: readonly AuditedRecord[]
  /** Gaps that reach into the stretch. */
  readonly gaps: readonly Pick<Gap, 'fromAt' | 'toAt' | 'count'>[]
  /** How many slots of the stretch are folded into sums; then it is a whole day (T12). */
  readonly folded: number
}

/** Something that does not add up. */
export interface StretchFinding {
  readonly problem: 'missing' | 'double' | 'unexpected'
  /** The slot; undefined where only the sum of a folded day tells. */
  readonly at: number | undefined
  readonly count: number
  readonly reason: string
}

/** `expected` = `recorded` + `missing`; what is on its way is in neither. */
export interface StretchSum {
  readonly expected: number
  readonly recorded: number
  readonly missing: number
  readonly double: number
  readonly unexpected: number
  readonly findings: readonly StretchFinding[]
}

/** Slots that one stretch names; the counts are whole. */
const MOST_NAMED = 20

/** Compares what a stretch owes with what the ledger has of it. Pure. Costs by the records and gaps, not by the slots. */
export function compareStretch(stretch: Stretch): StretchSum {
  const { afterAt, untilAt, owed, overdue, folded } = stretch
  const covers = union(stretch)
  const judged = judgeRecords(stretch, covers)
  const inGaps = {
    overdue: sum(covers.map(({ fromAt, toAt }) => countOwed(overdue, fromAt, toAt))),
    owed: sum(covers.map(({ fromAt, toAt }) => countOwed(owed, fromAt, toAt))),
  }
  const due = countOwed(overdue, afterAt, untilAt)
  // Slots with neither record nor gap: those that had to have one by now, and all.
  const absent = due - inGaps.overdue - judged.overdue
  const absentOwed = countOwed(owed, afterAt, untilAt) - inGaps.owed - judged.owed
  const findings = [
    ...overlapping(stretch),
    ...judged.findings,
    ...overfolded(folded, absentOwed),
    ...miscounted(stretch),
    ...(absent > folded ? absentees(stretch, covers, absent - folded) : []),
  ]
  const count = (problem: StretchFinding['problem']) =>
    sum(findings.map((each) => (each.problem === problem ? each.count : 0)))
  // What was recorded before it had to be counts on both sides.
  const early = inGaps.owed - inGaps.overdue + judged.early + Math.max(0, Math.min(folded, absentOwed) - absent)
  const expected = due - judged.onTheWay + early
  const missing = count('missing')
  const sums = {
    expected,
    recorded: expected - missing,
    missing,
    double: count('double'),
    unexpected: count('unexpected'),
  }
  return { ...sums, findings: findings.slice(0, MOST_NAMED) }
}

interface JudgedRecords {
  readonly findings: readonly StretchFinding[]
  /** Records, outside of gaps, of slots that are owed; of those that had to be recorded by now; of those that had not. */
  readonly owed: number
  readonly overdue: number
  readonly early: number
  /** Of those that had to be recorded, the ones that are on their way all the same. */
  readonly onTheWay: number
}

function judgeRecords({ owed, overdue, records }: Stretch, covers: readonly Cover[]): JudgedRecords {
  const findings: StretchFinding[] = []
  const counts = { owed: 0, overdue: 0, early: 0, onTheWay: 0 }
  for (const { at, standing } of records) {
    if (!isOwed(owed, at)) {
      findings.push({ problem: 'unexpected', at, count: 1, reason: 'no definition in force then has this slot' })
    } else if (covers.some(({ fromAt, toAt }) => at > fromAt && at <= toAt)) {
      findings.push({ problem: 'double', at, count: 1, reason: 'it has a record and is in a gap' })
    } else {
      counts.owed += 1
      const isOverdue = isOwed(overdue, at)
      if (isOverdue) counts.overdue += 1
      else if (standing !== 'on-its-way') counts.early += 1
      if (isOverdue && standing === 'on-its-way') counts.onTheWay += 1
      if (standing === 'stuck')
        findings.push({
          problem: 'missing',
          at,
          count: 1,
          reason: 'due or claimed for too long, or passed by the watermark',
        })
    }
  }
  return { findings, ...counts }
}

function overfolded(folded: number, left: number): StretchFinding[] {
  if (folded <= left) return []
  const reason = `${folded} slots of the day are folded, ${left} are left for them`
  return [{ problem: 'double', at: undefined, count: folded - left, reason }]
}

interface Cover {
  readonly fromAt: number
  readonly toAt: number
}

/** The gaps within the stretch, merged where they overlap. */
function union({ afterAt, untilAt, gaps }: Stretch): Cover[] {
  const merged: Cover[] = []
  for (const gap of gaps.toSorted((a, b) => a.fromAt - b.fromAt)) {
    const cover = { fromAt: Math.max(afterAt, gap.fromAt), toAt: Math.min(untilAt, gap.toAt) }
    if (cover.toAt <= cover.fromAt) continue
    const last = merged.at(-1)
    if (last === undefined || cover.fromAt >= last.toAt) merged.push(cover)
    else merged[merged.length - 1] = { fromAt: last.fromAt, toAt: Math.max(last.toAt, cover.toAt) }
  }
  return merged
}

/** Slots that two gaps hold. */
function overlapping({ afterAt, untilAt, gaps, owed }: Stretch): StretchFinding[] {
  let reachedAt = afterAt
  return gaps
    .toSorted((a, b) => a.fromAt - b.fromAt)
    .flatMap((gap) => {
      const fromAt = Math.max(gap.fromAt, afterAt)
      const both = Math.min(reachedAt, gap.toAt, untilAt)
      reachedAt = Math.max(reachedAt, gap.toAt)
      const count = both > fromAt ? countOwed(owed, fromAt, both) : 0
      if (count === 0) return []
      const [at] = owedBetween(owed, fromAt, both)
      return [{ problem: 'double' as const, at, count, reason: `${count} slots are in two gaps` }]
    })
}

/** Gaps that end here and whose count is not what the definitions say. */
function miscounted({ afterAt, untilAt, gaps, owed }: Stretch): StretchFinding[] {
  return gaps.flatMap(({ fromAt, toAt, count }) => {
    if (toAt <= afterAt || toAt > untilAt) return []
    const actual = countOwed(owed, fromAt, toAt)
    if (actual === count) return []
    const reason = `the gap that ends here counts ${count} slots, the definitions have ${actual}`
    const problem = actual > count ? ('missing' as const) : ('unexpected' as const)
    return [{ problem, at: toAt, count: Math.abs(actual - count), reason }]
  })
}

/** Names slots that nothing is recorded of. */
function absentees(
  { afterAt, untilAt, overdue, records, folded }: Stretch,
  covers: readonly Cover[],
  count: number,
): StretchFinding[] {
  if (folded > 0) {
    return [
      {
        problem: 'missing',
        at: undefined,
        count,
        reason: `${folded} slots of the day are folded; ${count} more are nowhere`,
      },
    ]
  }
  const known = new Set(records.map(({ at }) => at))
  const named: StretchFinding[] = []
  let from = afterAt
  for (const cover of [...covers, { fromAt: untilAt, toAt: untilAt }]) {
    for (const at of owedBetween(overdue, from, cover.fromAt)) {
      if (known.has(at)) continue
      const left = count - named.length
      if (named.length === MOST_NAMED - 1)
        return [
          ...named,
          { problem: 'missing', at, count: left, reason: `nothing is recorded of it and ${left - 1} others` },
        ]
      named.push({ problem: 'missing', at, count: 1, reason: 'nothing is recorded of it' })
    }
    from = cover.toAt
  }
  return named
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}
