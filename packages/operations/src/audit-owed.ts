import { countBetween, type Schedule, slotsBetween } from '@cronce/core'

/** A span in which one definition was in force: its slots in (after, until] are owed. Instants in epoch ms. */
export interface OwedSpan {
  readonly schedule: Schedule
  readonly spreadMs: number
  readonly afterAt: number
  readonly untilAt: number
}

/** One stored definition and its dates. */
export interface DatedSchedule {
  readonly schedule: Schedule
  readonly spreadMs: number
  readonly sinceAt: number
  /** The job was removed for good then, before this definition began anew. */
  readonly goneAt: number | undefined
}

/**
 * Which slots had to exist, by A2 and T7: those of a generation after its start, up to the next one's, up to the removal where the next one
 * is a new registration (T8). Only those that have come due by their effective instants.
 */
export function owedSpans(
  generations: readonly DatedSchedule[],
  { goneAt, now }: { goneAt: number | undefined; now: number },
): OwedSpan[] {
  return generations.flatMap(({ schedule, spreadMs, sinceAt }, index) => {
    const next = generations[index + 1]
    const end = next === undefined ? goneAt : Math.min(next.sinceAt, next.goneAt ?? Number.POSITIVE_INFINITY)
    const untilAt = Math.min(end ?? Number.POSITIVE_INFINITY, now - spreadMs)
    return untilAt > sinceAt ? [{ schedule, spreadMs, afterAt: sinceAt, untilAt }] : []
  })
}

/** The parts of the spans that must be recorded by now: up to the watermark, and what is older than grace. */
export function overdueSpans(
  spans: readonly OwedSpan[],
  { watermarkAt, graceAt }: { watermarkAt: number; graceAt: number },
): OwedSpan[] {
  return spans.flatMap((span) => {
    const untilAt = Math.min(span.untilAt, Math.max(watermarkAt, graceAt - span.spreadMs))
    return untilAt > span.afterAt ? [{ ...span, untilAt }] : []
  })
}

/** How many slots of the spans lie in (after, until]. Walks none of them. */
export function countOwed(spans: readonly OwedSpan[], afterAt: number, untilAt: number): number {
  let count = 0
  for (const span of spans) {
    const from = Math.max(afterAt, span.afterAt)
    const until = Math.min(untilAt, span.untilAt)
    if (until > from) count += countBetween(span.schedule, from, until)
  }
  return count
}

/** Whether an instant is a slot of the spans. */
export function isOwed(spans: readonly OwedSpan[], at: number): boolean {
  return countOwed(spans, at - 1, at) > 0
}

/** The slots of the spans in (after, until], oldest first. */
export function* owedBetween(spans: readonly OwedSpan[], afterAt: number, untilAt: number): Generator<number> {
  for (const span of spans) {
    const from = Math.max(afterAt, span.afterAt)
    const until = Math.min(untilAt, span.untilAt)
    if (until > from) yield* slotsBetween(span.schedule, from, until)
  }
}
