import { userInfo } from 'node:os'
import { type Environment, lineText, readEnvironment, urlText, type Variables } from '@cronce/core'
import { z } from 'zod'

const REDIS_URL = urlText(['redis:', 'rediss:'])

/** Every variable of the command line. `docs/cli.md` is tested to have them. */
export const CLI_VARIABLES = {
  REDIS_URL: {
    about:
      'Where Redis is: redis://[user:password@]host:port[/db], or rediss:// for TLS. Unset: the running npm start.',
    default: '',
    schema: optional(REDIS_URL),
  },
  CRONCE_SERVICE: {
    about: 'Namespace of the jobs. Unset: that of the running npm start, else cronce.',
    default: '',
    schema: optional(lineText()),
  },
} as const satisfies Variables

export type CliEnvironment = Environment<typeof CLI_VARIABLES>

/** The service where nothing names one: the default of the apps. */
export const DEFAULT_SERVICE = 'cronce'

type Text = Readonly<Record<string, string | undefined>>

/**
 * Reads what the environment says. Variables of the apps may stand beside ours: the command also runs in their containers.
 *
 * @throws CronceError CRONCE_CONFIG_INVALID with every fault
 */
export function readCliEnvironment(env: Text = process.env): CliEnvironment {
  const own = Object.fromEntries(Object.keys(CLI_VARIABLES).map((name) => [name, env[name]]))
  return readEnvironment(CLI_VARIABLES, { env: own, prefix: 'CRONCE_' })
}

/** Whether the environment asks for output without colours (no-color.org). */
export function wantsNoColour(env: Text = process.env): boolean {
  return (env['NO_COLOR'] ?? '') !== ''
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

/** What is wrong with a text as a URL of Redis, without its password; undefined where nothing is. */
export function redisUrlFault(text: string): string | undefined {
  return REDIS_URL.safeParse(text).error?.issues[0]?.message
}

function optional(schema: z.ZodType<string>): z.ZodType<string | undefined> {
  return z.unknown().transform((value, context) => {
    if (value === '') return undefined
    const parsed = schema.safeParse(value)
    if (parsed.success) return parsed.data
    for (const { message } of parsed.error.issues) context.addIssue({ code: 'custom', message })
    return z.NEVER
  })
}
