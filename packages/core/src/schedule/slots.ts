import { CronceError } from '../errors/cronce-error.ts'
import { compiled } from './compiled.ts'
import { countCron, lastCron, nextCron } from './cron-slots.ts'
import { countEvery, lastEvery, nextEvery } from './every-slots.ts'
import type { Schedule } from './schedule.ts'

/**
 * The first slot strictly after an instant. A pure function of its arguments: any process, in any host zone, asked from anywhere, answers
 * from one and the same chain.
 *
 * @param afterMs epoch milliseconds.
 * @returns epoch milliseconds, whole seconds; undefined past the year 9999.
 * @throws CronceError CRONCE_INSTANT_INVALID where `afterMs` is not a number.
 */
export function nextSlot(schedule: Schedule, afterMs: number): number | undefined {
  const after = secondsOf(afterMs)
  return instantOf(schedule.kind === 'every' ? nextEvery(schedule, after + 1) : nextCron(compiled(schedule), after + 1))
}

/** The last slot at or before an instant; undefined before the year 1. See {@link nextSlot}. */
export function lastSlot(schedule: Schedule, atMs: number): number | undefined {
  const at = secondsOf(atMs)
  return instantOf(schedule.kind === 'every' ? lastEvery(schedule, at) : lastCron(compiled(schedule), at))
}

/** The slots after `afterMs` up to and including `untilMs`, oldest first, computed as they are asked for. See {@link nextSlot}. */
export function* slotsBetween(
  schedule: Schedule,
  afterMs: number,
  untilMs: number,
): Generator<number, void, undefined> {
  secondsOf(untilMs)
  for (let slot = nextSlot(schedule, afterMs); slot !== undefined && slot <= untilMs; slot = nextSlot(schedule, slot))
    yield slot
}

/** How many slots {@link slotsBetween} gives, without walking them. */
export function countBetween(schedule: Schedule, afterMs: number, untilMs: number): number {
  const from = secondsOf(afterMs) + 1
  const until = secondsOf(untilMs) + 1
  if (until <= from) return 0
  return schedule.kind === 'every' ? countEvery(schedule, from, until) : countCron(compiled(schedule), from, until)
}

/** The length in milliseconds of the interval between neighbouring slots in which an instant lies; Infinity at the ends of the calendar. */
export function periodMs(schedule: Schedule, atMs: number): number {
  const last = lastSlot(schedule, atMs)
  const next = nextSlot(schedule, atMs)
  return last === undefined || next === undefined ? Number.POSITIVE_INFINITY : next - last
}

function secondsOf(instantMs: number): number {
  if (typeof instantMs !== 'number' || Number.isNaN(instantMs))
    throw new CronceError('CRONCE_INSTANT_INVALID', { got: String(instantMs) })
  return Math.floor(instantMs / 1000)
}

function instantOf(seconds: number): number | undefined {
  // + 0 turns the -0 of a division into 0.
  return Number.isFinite(seconds) ? seconds * 1000 + 0 : undefined
}
