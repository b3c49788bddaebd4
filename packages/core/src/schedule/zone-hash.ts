import { CronceError } from '../errors/cronce-error.ts'
import { RecentMap } from '../recent-map.ts'
import { fnv1a } from './text-hash.ts'
import { type ZoneClock, zoneClock } from './zone-clock.ts'

/** A zone's hash is asked for with every job that is read or said to be carried, and takes thousands of look-ups. */
const hashes = new RecentMap<string, string>(700)

/**
 * A short stable hash of a zone's offsets and changes from `fromMs` up to, not including, `untilMs`, as this process's tz data give them. Two
 * processes with equal hashes compute equal slots there; one with another hash must not fire (protocol rule A2).
 *
 * @returns 16 hexadecimal digits.
 * @throws CronceError CRONCE_SCHEDULE_ZONE where this process does not know the zone, CRONCE_INSTANT_INVALID for what is no instant.
 */
export function zoneTransitionsHash(zone: string, fromMs: number, untilMs: number): string {
  const clock = zoneClock(zone)
  if (!Number.isFinite(fromMs) || !Number.isFinite(untilMs)) {
    throw new CronceError('CRONCE_INSTANT_INVALID', { got: String(Number.isFinite(fromMs) ? untilMs : fromMs) })
  }
  const span = `${zone} ${fromMs} ${untilMs}`
  const known = hashes.get(span)
  if (known !== undefined) return known
  const hash = hashOf(clock, fromMs, untilMs)
  hashes.set(span, hash)
  return hash
}

function hashOf(clock: ZoneClock, fromMs: number, untilMs: number): string {
  const from = Math.floor(fromMs / 1000)
  const changes = clock.changes(from, Math.ceil(untilMs / 1000))
  const text = [clock.offsetAt(from), ...changes.map(({ at, after }) => `${at}:${after}`)].join(' ')
  const halves = [fnv1a(text), fnv1a(text, 0x9747_b28c)]
  return halves.map((half) => half.toString(16).padStart(8, '0')).join('')
}
