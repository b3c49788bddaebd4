import { nextSlot, type Schedule } from '@cronce/core'
import { findJob, listRuns, type RunRow } from '@cronce/operations'
import { readTime, type Store } from '@cronce/store'
import type { Mark } from './answers.ts'
import type { FiguresAnswer, PointAnswer, Spread } from './job-answers.ts'
import { punctualityMs, runAnswer } from './run-answer.ts'
import { contextOf } from './schedules.ts'

export interface FiguresRequest {
  readonly limit: number
  readonly cursor: string | undefined
}

/**
 * How late and how long the runs of a job were, against the time there was.
 *
 * @throws CronceError CRONCE_JOB_UNKNOWN, CRONCE_INPUT_INVALID
 */
export async function readFigures(store: Store, job: string, request: FiguresRequest): Promise<FiguresAnswer> {
  const [now, page, known] = await Promise.all([
    readTime(store),
    listRuns(store, { job, ...request }),
    findJob(store, job),
  ])
  const context = contextOf(known?.settings)
  const rows = page.rows.filter(({ gap }) => gap === undefined).toReversed()
  const points = rows.map((row) => pointOf(row, context))
  const marks: Partial<Record<Mark, number>> = {}
  for (const { mark } of points) marks[mark] = (marks[mark] ?? 0) + 1
  return {
    now,
    points,
    lateness: spreadOf(points.flatMap(({ latenessMs }) => latenessMs ?? [])),
    duration: spreadOf(points.flatMap(({ durationMs }) => durationMs ?? [])),
    fullest: fullestOf(points),
    marks,
    inGaps: page.rows.reduce((sum, { gap }) => sum + (gap?.count ?? 0), 0),
    older: page.next ?? null,
  }
}

function pointOf(row: RunRow, context: ReturnType<typeof contextOf>): PointAnswer {
  const { slot, at, mark, durationMs, cause } = runAnswer(row, context)
  const latenessMs = punctualityMs(row) ?? null
  const intervalMs = cause === 'manual' && slot.includes('+') ? null : intervalAfter(context.schedule, at)
  return { slot, at, mark, latenessMs, durationMs, intervalMs }
}

function intervalAfter(schedule: Schedule | undefined, at: number): number | null {
  const next = schedule === undefined ? undefined : nextSlot(schedule, at)
  return next === undefined ? null : next - at
}

function fullestOf(points: readonly PointAnswer[]): FiguresAnswer['fullest'] {
  let fullest: { slot: string; share: number } | null = null
  for (const { slot, durationMs, intervalMs } of points) {
    if (durationMs === null || intervalMs === null) continue
    const share = durationMs / intervalMs
    if (share > (fullest?.share ?? -1)) fullest = { slot, share }
  }
  return fullest
}

/** The median, what one in twenty is beyond, and the worst; null of nothing. */
function spreadOf(values: readonly number[]): Spread | null {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? 0
  return sorted.length === 0 ? null : { count: sorted.length, p50: at(0.5), p95: at(0.95), most: at(1) }
}
