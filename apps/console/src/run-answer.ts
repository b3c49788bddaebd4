import { previewSlots, type RunState, type Schedule } from '@cronce/core'
import type { DeadLetterRow, OverdueRow, RunRow } from '@cronce/operations'
import type { Mark, OverdueAnswer, RunAnswer } from './answers.ts'
import type { LetterRowAnswer } from './letter-answers.ts'

const MARKS: Readonly<Record<RunState, Mark>> = {
  due: 'waiting',
  claimed: 'waiting',
  enqueued: 'waiting',
  running: 'running',
  succeeded: 'ran',
  partial: 'partial',
  failed: 'failed',
  abandoned: 'failed',
  skipped: 'skipped',
  missed: 'missed',
}

/** `tolerance.start` of the job; a run that started beyond it counts as late. */
export interface RunContext {
  readonly schedule: Schedule | undefined
  readonly lateBeyondMs: number
}

/** How late a run was that was to be in time; undefined for those that somebody asked for long after. */
export function punctualityMs({ cause, latenessMs }: Pick<RunRow, 'cause' | 'latenessMs'>): number | undefined {
  return cause === 'manual' || cause === 'backfill' ? undefined : latenessMs
}

export function runAnswer(row: RunRow, { schedule, lateBeyondMs }: RunContext): RunAnswer {
  const isLate = (punctualityMs(row) ?? 0) > lateBeyondMs
  const mark = MARKS[row.state]
  return {
    slot: row.slot,
    job: row.job,
    at: row.at,
    local: localText(schedule, row.at),
    state: row.state,
    mark: mark === 'ran' && isLate ? 'late' : mark,
    cause: row.cause ?? null,
    reason: row.reason ?? null,
    why: row.why ?? null,
    latenessMs: row.latenessMs ?? null,
    durationMs: row.durationMs ?? null,
    entities: row.entities,
    by: row.by ?? null,
    release: row.release ?? null,
    gap: row.gap ?? null,
  }
}

export function overdueAnswer(row: OverdueRow): OverdueAnswer {
  const { job, slot, kind, at, sinceMs, toleranceMs, reason, count, zone } = row
  return { ...{ job, slot, kind, at, sinceMs, toleranceMs, reason, count }, local: zonedText(zone ?? 'UTC', at) }
}

export function letterRowAnswer(row: DeadLetterRow): LetterRowAnswer {
  const { id, job, slot, entity, reason, state, attempts, lives, at, error } = row
  return {
    ...{ id, job, slot, reason, state, attempts, lives, at },
    entity: entity ?? null,
    error: error === undefined ? null : { name: error.name, message: error.message },
  }
}

/** `2026-03-08 03:00:00 -04:00`, in UTC `2026-03-08 07:00:00Z`: an abbreviation alone does not say which of two it is. */
export function localText(schedule: Schedule | undefined, at: number): string {
  return zonedText(zoneOf(schedule), at)
}

export function zoneOf(schedule: Schedule | undefined): string {
  return schedule?.kind === 'cron' ? schedule.zone : 'UTC'
}

const formats = new Map<string, Intl.DateTimeFormat>()

function zonedText(zone: string, at: number): string {
  let format = formats.get(zone)
  if (format === undefined) {
    format = new Intl.DateTimeFormat('sv-SE', {
      timeZone: zone,
      dateStyle: 'short',
      timeStyle: 'medium',
    })
    formats.set(zone, format)
  }
  return zone === 'UTC' ? `${format.format(at)}Z` : `${format.format(at)} ${offsetText(zone, at)}`
}

function offsetText(zone: string, at: number): string {
  const parts = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' }).formatToParts(at)
  const name = parts.find(({ type }) => type === 'timeZoneName')?.value ?? 'GMT'
  return name === 'GMT' ? '+00:00' : name.replace('GMT', '')
}

/** Why a slot's local time is another than the one written, or undefined. */
export function noteAt(schedule: Schedule, at: number): string | undefined {
  return previewSlots(schedule, { from: at - 1, count: 1 })[0]?.note
}
