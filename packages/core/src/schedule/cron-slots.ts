import { FIRST_SECOND, LAST_SECOND } from './civil.ts'
import type { CompiledCron } from './compiled.ts'
import type { CronPlan } from './cron-plan.ts'
import { countLocal, nextLocal, prevLocal } from './local-times.ts'
import type { WallBlock } from './wall-map.ts'

/** No zone was ever further from Greenwich. */
const WIDEST_OFFSET = 16 * 3600

/** The first slot that is not before `at` (epoch seconds); Infinity where there is none. */
export function nextCron({ plan, wall }: CompiledCron, at: number): number {
  let from = Math.max(at, FIRST_SECOND)
  while (from <= LAST_SECOND) {
    const block = wall.blockAt(from)
    const slot = firstOf(plan, block, from)
    if (slot !== Number.POSITIVE_INFINITY) return slot <= LAST_SECOND ? slot : Number.POSITIVE_INFINITY
    if (block.until === Number.POSITIVE_INFINITY) return slot
    // Nothing before the next matching local time, at whatever offset: the blocks between need not be looked at.
    from = Math.max(block.until, nextLocal(plan, block.until - WIDEST_OFFSET) - WIDEST_OFFSET)
  }
  return Number.POSITIVE_INFINITY
}

/** The last slot that is not after `at` (epoch seconds); -Infinity where there is none. */
export function lastCron({ plan, wall }: CompiledCron, at: number): number {
  let until = Math.min(at, LAST_SECOND)
  while (until >= FIRST_SECOND) {
    const block = wall.blockAt(until)
    const slot = lastOf(plan, block, until)
    if (slot !== Number.NEGATIVE_INFINITY) return slot >= FIRST_SECOND ? slot : Number.NEGATIVE_INFINITY
    if (block.from === Number.NEGATIVE_INFINITY) return slot
    until = Math.min(block.from - 1, prevLocal(plan, block.from - 1 + WIDEST_OFFSET) + WIDEST_OFFSET)
  }
  return Number.NEGATIVE_INFINITY
}

/** How many slots there are from `from` up to, not including, `until` (epoch seconds). */
export function countCron({ plan, wall }: CompiledCron, from: number, until: number): number {
  const end = Math.min(until, LAST_SECOND + 1)
  let count = 0
  // Blocks of one offset are counted together: a year is a handful of sums.
  let run = { from: 0, until: 0, offset: 0 }
  for (let at = Math.max(from, FIRST_SECOND); at < end; ) {
    const block = wall.blockAt(at)
    const stop = Math.min(block.until, end)
    for (const piece of block.pieces) {
      const span = { from: Math.max(at, piece.from), until: Math.min(stop, piece.until), offset: piece.offset }
      if (span.from >= span.until) continue
      if (piece.isShifted) count += countShifted(plan, block, span)
      else if (run.offset === span.offset && run.until === span.from) run = { ...run, until: span.until }
      else {
        count += countLocal(plan, run.from + run.offset, run.until + run.offset)
        run = span
      }
    }
    for (const mark of block.marks) {
      const isSlot = mark.at >= at && mark.at < stop && nextLocal(plan, mark.localFrom) < mark.localUntil
      if (isSlot && !isPlainSlot(plan, block, mark.at)) count += 1
    }
    at = stop
  }
  return count + countLocal(plan, run.from + run.offset, run.until + run.offset)
}

function firstOf(plan: CronPlan, block: WallBlock, from: number): number {
  let first = Number.POSITIVE_INFINITY
  for (const piece of block.pieces) {
    if (piece.until <= from || piece.from >= first) continue
    const slot = nextLocal(plan, Math.max(from, piece.from) + piece.offset) - piece.offset
    if (slot < piece.until && slot < first) first = slot
  }
  for (const mark of block.marks) {
    if (mark.at >= from && mark.at < first && nextLocal(plan, mark.localFrom) < mark.localUntil) first = mark.at
  }
  return first
}

function lastOf(plan: CronPlan, block: WallBlock, until: number): number {
  let last = Number.NEGATIVE_INFINITY
  for (const piece of block.pieces) {
    if (piece.from > until || piece.until <= last) continue
    const slot = prevLocal(plan, Math.min(until, piece.until - 1) + piece.offset) - piece.offset
    if (slot >= piece.from && slot > last) last = slot
  }
  for (const mark of block.marks) {
    if (mark.at <= until && mark.at > last && nextLocal(plan, mark.localFrom) < mark.localUntil) last = mark.at
  }
  return last
}

/** Shifted local times that do not fall on an instant which is a slot anyway. */
function countShifted(plan: CronPlan, block: WallBlock, span: { from: number; until: number; offset: number }): number {
  let count = 0
  for (
    let local = nextLocal(plan, span.from + span.offset);
    local < span.until + span.offset;
    local = nextLocal(plan, local + 1)
  ) {
    if (!isPlainSlot(plan, block, local - span.offset)) count += 1
  }
  return count
}

function isPlainSlot(plan: CronPlan, block: WallBlock, at: number): boolean {
  return block.pieces.some((piece) => {
    return (
      !piece.isShifted &&
      at >= piece.from &&
      at < piece.until &&
      nextLocal(plan, at + piece.offset) === at + piece.offset
    )
  })
}
