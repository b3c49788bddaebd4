const RATE = /^(\d{1,7}(?:\.\d{1,3})?)\/(s|min|h)$/
const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, min: 60_000, h: 3_600_000 }

/** What a rate looks like, for those who refuse another. */
export const RATE_FORM = 'a rate such as 2/min, 30/h or 0.5/s'

/** How often at most, `2/min`, as the least time between two, ms; undefined where a text is no rate. */
export function parseRate(text: string): number | undefined {
  const [, count = '', unit = ''] = RATE.exec(text) ?? []
  const intervalMs = (UNIT_MS[unit] ?? 0) / Number(count)
  return intervalMs > 0 && Number.isFinite(intervalMs) ? intervalMs : undefined
}
