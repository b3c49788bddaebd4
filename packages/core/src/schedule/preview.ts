import { CronceError } from '../errors/cronce-error.ts'
import { type ChangeEffect, changeEffect } from './change-effect.ts'
import { type CompiledCron, compiled } from './compiled.ts'
import { localsText } from './explain.ts'
import { dateText, timeText, zoneAbbreviation, zonedText } from './local-text.ts'
import type { Schedule } from './schedule.ts'
import { lastSlot, nextSlot } from './slots.ts'

/** A slot as people read it. */
export interface SlotPreview {
  /** ISO 8601 in UTC, with milliseconds. */
  readonly at: string
  /** `2026-03-08T03:00:00-04:00[America/New_York]`. */
  readonly local: string
  /** `2026-03-08 03:00 EDT`. */
  readonly display: string
  /** Why the local time is not the one written in the expression, or which pass of a repeated time it is. */
  readonly note?: string
}

export interface PreviewOptions {
  /** Epoch milliseconds, exclusive in both directions. */
  readonly from: number
  readonly count: number
  /** Default `next`; `prev` goes back in time, newest first. */
  readonly direction?: 'next' | 'prev'
}

const MOST_ROWS = 100_000

/** Days on either side of a slot where a change can explain it: as wide as the widest jump. */
const REACH_SECONDS = 2 * 86_400

/**
 * The next or previous slots, for people. They are the slots of {@link nextSlot} and {@link lastSlot}.
 *
 * @throws CronceError CRONCE_SCHEDULE_VALUE where `count` is not a whole number from 0 to 100000, CRONCE_INSTANT_INVALID for `from`.
 */
export function previewSlots(
  schedule: Schedule,
  { from, count, direction = 'next' }: PreviewOptions,
): readonly SlotPreview[] {
  if (!Number.isInteger(count) || count < 0 || count > MOST_ROWS) {
    throw new CronceError('CRONCE_SCHEDULE_VALUE', {
      path: 'count',
      expected: `a whole number from 0 to ${MOST_ROWS}`,
      got: String(count),
    })
  }
  const step =
    direction === 'next' ? (at: number) => nextSlot(schedule, at) : (at: number) => lastSlot(schedule, at - 1)
  const rows: SlotPreview[] = []
  for (let slot = step(from); slot !== undefined && rows.length < count; slot = step(slot))
    rows.push(previewOf(schedule, slot))
  return rows
}

function previewOf(schedule: Schedule, slotMs: number): SlotPreview {
  const at = slotMs / 1000
  const form = schedule.kind === 'cron' ? compiled(schedule) : undefined
  const zone = schedule.kind === 'cron' ? schedule.zone : 'UTC'
  const offset = form?.wall.clock.offsetAt(at) ?? 0
  const local = at + offset
  const row = {
    at: new Date(slotMs).toISOString(),
    local: zonedText(at, offset, zone),
    display: `${dateText(local)} ${timeText(local)} ${zoneAbbreviation(at, zone)}`,
  }
  const note = form === undefined ? undefined : noteOf(form, at)
  return note === undefined ? row : { ...row, note }
}

function noteOf(form: CompiledCron, at: number): string | undefined {
  for (const change of form.wall.clock.changes(at - REACH_SECONDS, at + REACH_SECONDS)) {
    const effect = changeEffect(form, change)
    const note =
      effect === undefined
        ? undefined
        : effect.kind === 'missing'
          ? missingNote(form, effect, at)
          : repeatedNote(effect, at)
    if (note !== undefined) return note
  }
  return undefined
}

function missingNote({ plan, schedule }: CompiledCron, effect: ChangeEffect, at: number): string | undefined {
  const { change } = effect
  if (plan.isIntervalLike || schedule.missingTime === 'skip') return undefined
  if (schedule.missingTime === 'at-gap-end') {
    return at === change.at
      ? `${localsText(effect)} ${effect.count === 1 ? 'does' : 'do'} not exist that night`
      : undefined
  }
  return effect.locals.includes(at + change.before)
    ? `${timeText(at + change.before)} does not exist that night`
    : undefined
}

function repeatedNote({ change }: ChangeEffect, at: number): string | undefined {
  const length = change.before - change.after
  if (at < change.at - length || at >= change.at + length) return undefined
  return at < change.at
    ? `${timeText(at + change.before)} comes twice that night: the first`
    : `${timeText(at + change.after)} comes twice that night: the second`
}
