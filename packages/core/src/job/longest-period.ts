import type { Schedule } from '../schedule/schedule.ts'
import { periodMs } from '../schedule/slots.ts'

/**
 * Where the gaps between slots are looked at: a year from 2026-01-01T00:00Z in steps that touch every month, weekday and
 * several hours of the day. Fixed, so that a definition is never sound on one day and refused on another.
 */
const FIRST_SAMPLE_AT = Date.UTC(2026, 0, 1)
const STEP_MS = (31 * 24 + 5) * 3_600_000
const SAMPLES = 12

/** The longest gap between two slots that the samples meet; looking ends where it is at least `enoughMs`. */
export function longestPeriodMs(schedule: Schedule, enoughMs: number): number {
  if (schedule.kind === 'every') return schedule.periodMs
  let longestMs = 0
  for (let sample = 0; sample < SAMPLES && longestMs < enoughMs; sample++) {
    longestMs = Math.max(longestMs, periodMs(schedule, FIRST_SAMPLE_AT + sample * STEP_MS))
  }
  return longestMs
}
