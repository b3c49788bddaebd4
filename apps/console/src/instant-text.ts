import { z } from 'zod'

const DAY = /^\d{4}-\d{2}-\d{2}$/
const MINUTE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?Z$/

/** A UTC day, `2026-11-01`, or an instant in UTC, `2026-11-01T12:00Z`, as epoch ms. */
export const instant = z.string().transform((text, context) => {
  const whole = DAY.test(text) ? `${text}T00:00:00Z` : text
  const at = MINUTE.test(whole) ? Date.parse(whole) : Number.NaN
  // Date.parse lets 31 February roll over into March.
  if (!Number.isNaN(at) && new Date(at).toISOString().startsWith(whole.slice(0, 16))) return at
  context.addIssue('expected a UTC day such as 2026-11-01 or an instant such as 2026-11-01T12:00Z')
  return z.NEVER
})
