import { createHash } from 'node:crypto'
import { countBetween, cron, explain, lastSlot, nextSlot, previewSlots, zoneTransitionsHash } from '@cronce/core'

/** A digest of many answers, equal in every process whose tz data are equal, whatever the zone of its host. */
export function slotDigest(): string {
  const hash = createHash('sha256')
  for (const zone of [
    'UTC',
    'America/New_York',
    'Europe/Berlin',
    'Australia/Lord_Howe',
    'Africa/Cairo',
    'Asia/Kathmandu',
    'Australia/Sydney',
    'America/Santiago',
  ]) {
    for (const expression of ['30 2 * * *', '0 0 * * *', '*/20 * * * *', '0 2-3 * * SUN', '0 8 1 * *']) {
      const schedule = cron(expression, { zone })
      for (
        let at = Date.parse('2025-10-01T00:00:00Z');
        at < Date.parse('2026-11-15T00:00:00Z');
        at += 7 * 3_600_000 + 1
      ) {
        hash.update(`${nextSlot(schedule, at)} ${lastSlot(schedule, at)} `)
      }
      hash.update(
        JSON.stringify([
          explain(schedule, 2026),
          previewSlots(schedule, { from: Date.parse('2026-03-07T12:00:00Z'), count: 5 }),
        ]),
      )
      hash.update(
        `${countBetween(schedule, 0, Date.parse('2027-01-01T00:00:00Z'))} ${zoneTransitionsHash(zone, 0, Date.parse('2027-01-01T00:00:00Z'))}`,
      )
    }
  }
  return hash.digest('hex')
}
