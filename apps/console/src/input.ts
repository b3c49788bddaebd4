import { CronceError } from '@cronce/core'
import type { z } from 'zod'

/**
 * What a client sent, checked.
 *
 * @throws CronceError CRONCE_INPUT_INVALID with every fault
 */
export function readInput<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value ?? {})
  if (parsed.success) return parsed.data
  const faults = parsed.error.issues.map(({ path, message }) => ({ path: path.join('.'), message }))
  const summary = faults.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; ')
  throw new CronceError('CRONCE_INPUT_INVALID', { count: faults.length, summary }, { faults })
}
