import { cron, previewSlots } from '@cronce/core'

/** `2026-03-08T07:00:00Z`: an instant in UTC, without milliseconds. */
export function utcText(at: number): string {
  return isoText(at).replace('.000Z', 'Z')
}

/** `2026-03-08T07:00:00.000Z`, as every instant in JSON. */
export function isoText(at: number): string {
  return new Date(at).toISOString()
}

/** As {@link isoText}; null for what has not happened. */
export function isoOrNull(at: number | undefined): string | null {
  return at === undefined ? null : isoText(at)
}

/** `2026-03-08 03:00 EDT`: an instant, cut to whole seconds, on the clocks of a zone. */
export function zonedText(at: number, zone: string): string {
  const second = Math.floor(at / 1_000) * 1_000
  // A schedule of every second has this instant as a slot, and core is the one place that knows zones.
  const everySecond = cron('* * * * * *', { zone, seconds: true })
  return previewSlots(everySecond, { from: second - 1, count: 1 })[0]?.display ?? utcText(second)
}
