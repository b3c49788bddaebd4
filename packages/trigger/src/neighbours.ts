import { countBetween, type Schedule } from '@cronce/core'
import type { DatedGap, Gap, Neighbours } from '@cronce/store'

const DAY_MS = 24 * 3600 * 1000

/**
 * T12: the gaps that neighbours make. Between two of them there may be slots that neither record nor gap tells of, for they are folded:
 * no gap covers those. Pure.
 */
export function joinNeighbours(schedule: Schedule, { state, reason, parts }: Neighbours): Gap[] {
  const whole = spanOf(parts)
  if (whole !== undefined && countBetween(schedule, whole.fromAt, whole.toAt) === whole.count)
    return [{ ...whole, state, reason }]
  const runs: Neighbours['parts'][number][][] = []
  for (const part of parts) {
    const run = runs.at(-1)
    const last = run?.at(-1)
    const isNext = last !== undefined && isWhole(schedule, last) && countIn(schedule, last.toAt, part.fromAt) === 0
    if (run !== undefined && isNext && isWhole(schedule, part)) run.push(part)
    else runs.push([part])
  }
  return runs.flatMap((run) => {
    const span = run.length > 1 ? spanOf(run) : undefined
    return span === undefined ? [] : [{ ...span, state, reason }]
  })
}

function spanOf(parts: Neighbours['parts']): Pick<Gap, 'fromAt' | 'toAt' | 'count'> | undefined {
  const [first, last] = [parts[0], parts.at(-1)]
  if (first === undefined || last === undefined) return undefined
  return { fromAt: first.fromAt, toAt: last.toAt, count: parts.reduce((sum, { count }) => sum + count, 0) }
}

/** Whether a part has the slots that the schedule says: one of another schedule is left alone. */
function isWhole(schedule: Schedule, { fromAt, toAt, count }: Neighbours['parts'][number]): boolean {
  return countIn(schedule, fromAt, toAt) === count
}

function countIn(schedule: Schedule, afterAt: number, untilAt: number): number {
  return untilAt > afterAt ? countBetween(schedule, afterAt, untilAt) : 0
}

/**
 * How many slots of a gap each UTC day has, from the oldest day kept on. What the schedule leaves over is the last day's, so that the
 * days add up to the gap; undefined: its schedule is not known. Pure.
 */
export function daysOfGap(
  gap: Pick<Gap, 'fromAt' | 'toAt' | 'count'>,
  { schedule, firstAt }: { schedule: Schedule | undefined; firstAt: number },
): DatedGap {
  const { fromAt, toAt, count } = gap
  const counted = (after: number, until: number) =>
    schedule === undefined ? 0 : Math.min(count, countIn(schedule, after, until))
  const from = Math.max(fromAt, firstAt - 1)
  let left = count - counted(fromAt, from)
  const days: { day: string; count: number }[] = []
  for (let after = from; after < toAt; ) {
    const until = Math.min(toAt, Math.floor((after + 1) / DAY_MS) * DAY_MS + DAY_MS - 1)
    const here = until === toAt ? left : Math.min(left, counted(after, until))
    if (here > 0) days.push({ day: new Date(until).toISOString().slice(0, 10), count: here })
    left -= here
    after = until
  }
  return { fromAt, toAt, count, days }
}
