import { type CatchUp, countBetween, lastSlot, type Schedule } from '@cronce/core'
import type { DueSlot, Gap, StoredPause } from '@cronce/store'
import { dueSlot } from './due-slots.ts'

/** An outage, as the ledger leaves it. Instants in epoch ms. */
export interface Outage {
  readonly schedule: Schedule
  readonly catchUp: CatchUp
  readonly spreadMs: number
  /** Everything up to here is recorded. */
  readonly afterAt: number
  /** The last slot that is older than grace. */
  readonly reachAt: number
  readonly now: number
  /** Instants in (after, reach] that the ledger has a record of: admitted already, on the queue, or ended. */
  readonly knownAt: readonly number[]
  /** Spans in (after, reach] that are gaps already. */
  readonly gaps: readonly Pick<Gap, 'fromAt' | 'toAt'>[]
}

/** What becomes of an outage: every one of its slots is in exactly one of the two. */
export interface Cut {
  readonly gaps: readonly Gap[]
  readonly admitted: readonly DueSlot[]
}

/**
 * T5: the cut. What is too late for anybody is `missed`; what the policy drops is `skipped`; the rest runs, oldest first.
 * `late`, `latest` and `skip` differ only here. Work and memory are bounded by `atMost`, however long the outage.
 */
export function cutOutage(outage: Outage): Cut {
  const { catchUp, spreadMs, afterAt, reachAt, now } = outage
  const windowAt = now - catchUp.withinMs - spreadMs
  const admitted = admit(outage, windowAt)
  const firstAdmitted = admitted[0]?.at ?? reachAt + 1
  const missedUntil = Math.min(windowAt - 1, firstAdmitted - 1, reachAt)
  const skippedUntil = Math.min(firstAdmitted - 1, reachAt)
  return {
    gaps: [
      ...uncovered(outage, [afterAt, missedUntil], {
        state: 'missed',
        reason: 'no trigger ran in time; later than the catch-up window',
      }),
      ...uncovered(outage, [Math.max(afterAt, missedUntil), skippedUntil], {
        state: 'skipped',
        reason: `catch-up: ${reasonOf(catchUp)}`,
      }),
    ],
    admitted,
  }
}

function reasonOf({ mode, atMost }: CatchUp): string {
  if (mode === 'late') return `more than the ${atMost} newest`
  return mode === 'latest' ? 'only the newest runs' : 'slots of an outage do not run'
}

/** The newest slots that the policy lets run, oldest first; stepped from the newest, so an outage of any length costs the same. */
function admit({ schedule, catchUp, spreadMs, afterAt, reachAt, knownAt, gaps }: Outage, windowAt: number): DueSlot[] {
  const most = { late: catchUp.atMost, latest: 1, skip: 0 }[catchUp.mode]
  const known = new Set(knownAt)
  const admitted: DueSlot[] = []
  let at = lastSlot(schedule, reachAt)
  while (at !== undefined && at > afterAt && at >= windowAt && admitted.length < most) {
    const slot = at
    const gap = gaps.find(({ fromAt, toAt }) => slot > fromAt && slot <= toAt)
    if (gap === undefined && !known.has(slot)) admitted.unshift(dueSlot(slot, spreadMs))
    at = lastSlot(schedule, gap === undefined ? slot - 1 : gap.fromAt)
  }
  return admitted
}

/** The parts of (from, to] that no record and no gap covers yet, with their counts; empty parts are left out. */
function uncovered(
  outage: Outage,
  [fromAt, toAt]: readonly [number, number],
  why: Pick<Gap, 'state' | 'reason'>,
): Gap[] {
  const covers = [
    ...outage.knownAt.map((at) => ({ fromAt: at - 1, toAt: at })),
    ...outage.gaps.map((gap) => ({ fromAt: gap.fromAt, toAt: gap.toAt })),
  ].toSorted((a, b) => a.toAt - b.toAt)
  const parts: Gap[] = []
  let from = fromAt
  const close = (to: number) => {
    const count = to > from ? countBetween(outage.schedule, from, to) : 0
    if (count > 0) parts.push({ fromAt: from, toAt: to, count, ...why })
  }
  for (const cover of covers) {
    if (cover.toAt <= from) continue
    if (cover.fromAt >= toAt) break
    close(cover.fromAt)
    from = cover.toAt
  }
  close(toAt)
  return parts
}

/** T10: the slots of a pause are one gap; what was due before it is cut as any outage is. */
export function cutPause(outage: Outage, pause: Pick<StoredPause, 'at' | 'by' | 'note' | 'missed'>): Cut {
  if (pause.missed === 'catch-up') return cutOutage(outage)
  const { schedule, reachAt } = outage
  const before = cutOutage({ ...outage, reachAt: Math.min(reachAt, lastSlot(schedule, pause.at) ?? outage.afterAt) })
  const reason = `paused by ${pause.by}${pause.note === '' ? '' : `: ${pause.note}`}`
  const during = uncovered(outage, [Math.max(outage.afterAt, pause.at), reachAt], { state: 'skipped', reason })
  return { gaps: [...before.gaps, ...during], admitted: before.admitted }
}

/**
 * S3: what was recorded up to `memoryAt` has lost its record; what comes after it may have run. The caller reaches past the
 * memory only where a second run would break the crash policy.
 */
export function cutRestoration(outage: Outage, memoryAt: number): Cut {
  const recordedUntil = Math.min(Math.max(outage.afterAt, memoryAt), outage.reachAt)
  const recorded = uncovered(outage, [outage.afterAt, recordedUntil], {
    state: 'missed',
    reason: 'store lost: it was recorded, its record is gone',
  })
  const unknown = uncovered(outage, [recordedUntil, outage.reachAt], {
    state: 'abandoned',
    reason: 'store lost: it may have run',
  })
  return { gaps: [...recorded, ...unknown], admitted: [] }
}

/** The last slot that is older than grace, or undefined where none after `afterAt` is. */
export function reachOfCut(
  schedule: Schedule,
  range: { afterAt: number; now: number; graceMs: number; spreadMs: number; goneAt?: number | undefined },
): number | undefined {
  const { afterAt, now, graceMs, spreadMs, goneAt = Number.POSITIVE_INFINITY } = range
  const reach = lastSlot(schedule, Math.min(now - graceMs - spreadMs - 1, goneAt))
  return reach === undefined || reach <= afterAt ? undefined : reach
}
