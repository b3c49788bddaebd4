import { CronceError } from '../errors/cronce-error.ts'
import { type ChangeEffect, changeEffect, keepsRhythm } from './change-effect.ts'
import { type CompiledCron, compiled } from './compiled.ts'
import { dateText, timeText, utcText, zoneAbbreviation } from './local-text.ts'
import { nextLocal } from './local-times.ts'
import type { Schedule } from './schedule.ts'

/** A day on which a zone's clocks change in a way that touches a schedule. */
export interface TransitionDay {
  readonly kind: 'missing' | 'repeated'
  /** The instant of the change, ISO 8601 in UTC. */
  readonly at: string
  /** The local date of the time that is missing or comes twice. */
  readonly date: string
  /** `02:00 does not exist: runs at 03:00 CEST (01:00Z)`. */
  readonly text: string
}

const DAY_MS = 86_400_000

/**
 * The days of a local year on which clocks change under a schedule, in words. Empty for intervals, for UTC and for what no change touches.
 *
 * @throws CronceError CRONCE_SCHEDULE_VALUE where `year` is not a whole number from 1 to 9999.
 * @example explain(cron('0 2 * * *', { zone: 'Europe/Berlin' }), 2027)[0]?.text // '02:00 does not exist: runs at 03:00 CEST (01:00Z)'
 */
export function explain(schedule: Schedule, year: number): readonly TransitionDay[] {
  if (!Number.isInteger(year) || year < 1 || year > 9999) {
    throw new CronceError('CRONCE_SCHEDULE_VALUE', {
      path: 'year',
      expected: 'a whole number from 1 to 9999',
      got: String(year),
    })
  }
  const start = Date.parse(`${String(year).padStart(4, '0')}-01-01T00:00:00Z`)
  const ofYear = `${String(year).padStart(4, '0')}-`
  return transitionDays(schedule, start - 2 * DAY_MS, start + 368 * DAY_MS).filter(({ date }) =>
    date.startsWith(ofYear),
  )
}

/** The transition days between two instants (epoch milliseconds). */
export function transitionDays(schedule: Schedule, fromMs: number, untilMs: number): readonly TransitionDay[] {
  if (schedule.kind === 'every') return []
  const form = compiled(schedule)
  return form.wall.clock.changes(Math.floor(fromMs / 1000), Math.floor(untilMs / 1000)).flatMap((change) => {
    const effect = keepsRhythm(form, change) ? undefined : changeEffect(form, change)
    if (effect === undefined) return []
    const date = dateText(effect.locals[0] as number)
    const text = effect.kind === 'missing' ? missingText(form, effect, date) : repeatedText(form, effect, date)
    return [{ kind: effect.kind, at: new Date(change.at * 1000).toISOString(), date, text }]
  })
}

/** `02:15 and 02:45`, `02:00 to 02:55 (12 times)`. */
export function localsText({ locals, count }: ChangeEffect): string {
  const times = locals.map(timeText)
  if (count === 1) return times[0] as string
  if (count === 2) return times.join(' and ')
  return count > locals.length
    ? `${times[0]} and ${count - 1} more times`
    : `${times[0]} to ${times.at(-1)} (${count} times)`
}

function missingText({ plan, schedule }: CompiledCron, effect: ChangeEffect, date: string): string {
  const { at, before, after } = effect.change
  const which = `${localsText(effect)} ${effect.count === 1 ? 'does' : 'do'} not exist`
  if (plan.isIntervalLike) return `${which}: no run for ${effect.count === 1 ? 'it' : 'them'}, real time goes on`
  if (schedule.missingTime === 'skip') return `${which}: ${effect.count === 1 ? 'does' : 'do'} not run`
  const zone = (instant: number) => zoneAbbreviation(instant, schedule.zone)
  if (schedule.missingTime === 'shift') {
    const instants = effect.locals.map((local) => local - before)
    const first = instants[0] as number
    const shifted = localsText({ ...effect, locals: instants.map((instant) => instant + after) })
    return `${which}: ${effect.count === 1 ? 'runs' : 'run'} at ${shifted} ${zone(first)} (${effect.count === 1 ? '' : 'from '}${utcText(first, date)})`
  }
  const place = `${timeText(at + after)} ${zone(at)} (${utcText(at, date)})`
  // The end of the gap may be a matching time itself: two local times, one instant, one slot.
  if (nextLocal(plan, at + after) === at + after) return `${which}: one run, together with ${place}`
  return effect.count === 1 ? `${which}: runs at ${place}` : `${which}: one run at ${place}`
}

function repeatedText({ plan, schedule }: CompiledCron, effect: ChangeEffect, date: string): string {
  const { before, after } = effect.change
  const local = effect.locals[0] as number
  const first = utcText(local - before, date)
  const second = utcText(local - after, date)
  const isOne = effect.count === 1
  const which = `${localsText(effect)} ${isOne ? 'comes' : 'come'} twice`
  const runs = isOne ? 'runs' : 'run'
  const from = isOne ? '' : 'from '
  if (plan.isIntervalLike) return `${which}: ${runs} both times, ${from}${first} and ${second}, real time goes on`
  if (schedule.repeatedTime === 'both') return `${which}: ${runs} both times, ${from}${first} and ${second}`
  return `${which}: ${runs} at the ${schedule.repeatedTime}, ${from}${schedule.repeatedTime === 'first' ? first : second}`
}
