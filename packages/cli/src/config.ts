import { userInfo } from 'node:os'
import { CronceError } from '@cronce/core'
import { z } from 'zod'

const redisUrl = z.string().refine(isRedisUrl, 'expected a URL such as redis://127.0.0.1:6379')
const name = z.string().trim().min(1, 'expected a name').max(128, 'expected at most 128 characters')

/** What the environment says. An empty variable is none. */
const ENVIRONMENT = z.object({
  REDIS_URL: redisUrl.optional(),
  CRONCE_SERVICE: name.optional(),
  CRONCE_JOBS: z.string().optional(),
  CRONCE_OPERATOR: name.optional(),
  NO_COLOR: z.string().optional(),
})

export type EnvironmentSettings = z.infer<typeof ENVIRONMENT>

/** The service of the definitions in this repository's `packages/jobs`, where nothing names another. */
export const DEFAULT_SERVICE = 'cronce'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Reads what the environment says.
 *
 * @throws CronceError CRONCE_CONFIG_INVALID with every fault
 */
export function readEnvironment(environment: Environment = process.env): EnvironmentSettings {
  const given = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  )
  const { success, data, error } = ENVIRONMENT.safeParse(given)
  if (success) return data
  const faults = error.issues.map(({ path, message }) => ({ path: path.join('.'), message }))
  const summary = faults.map(({ path, message }) => `${path}: ${message}`).join('; ')
  throw new CronceError('CRONCE_CONFIG_INVALID', { count: faults.length, summary }, { faults })
}

/** Whether the environment asks for output without colours (no-color.org). */
export function wantsNoColour(environment: Environment = process.env): boolean {
  return (environment['NO_COLOR'] ?? '') !== ''
}

/** The user that runs this process, as the operating system knows it. */
export function userName(): string {
  try {
    return userInfo().username
  } catch {
    // A container's user without an entry in the user database.
    return 'unknown'
  }
}

/** Whether a text is a URL of Redis. The text may hold a password: keep it out of messages. */
export function isRedisUrl(text: string): boolean {
  return URL.canParse(text) && ['redis:', 'rediss:'].includes(new URL(text).protocol) && new URL(text).hostname !== ''
}
