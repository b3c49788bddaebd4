import type { z } from 'zod'
import { CronceError, type Fault } from '../errors/cronce-error.ts'
import { nearestName } from '../nearest-name.ts'

/** One variable of a program's environment. */
export interface Variable<Value = unknown> {
  /** What it says, with its unit and what it takes: the comment of `.env.example`. */
  readonly about: string
  /** The text that stands where it is not set; empty where unset means something of its own. Undefined: it must be set. */
  readonly default?: string
  /** Makes the value of the text. */
  readonly schema: z.ZodType<Value>
}

/** The variables of a program, by name. */
export type Variables = Readonly<Record<string, Variable>>

/** What {@link readEnvironment} makes of variables. */
export type Environment<V extends Variables> = {
  readonly [Name in keyof V]: V[Name] extends Variable<infer Value> ? Value : never
}

export interface EnvironmentSource {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Every set variable that begins so must be known: a slip in its name would be a setting that does nothing. */
  readonly prefix: string
  /** Names with the prefix that are somebody else's. */
  readonly alsoKnown?: readonly string[]
}

/**
 * Reads a program's configuration from its environment, once, all faults at once. A variable set to nothing counts as not
 * set, as in a `.env` file.
 *
 * @throws CronceError CRONCE_CONFIG_INVALID, whose `faults` has every fault: `expected X, got Y`, and unknown names
 * @example
 * const { PORT } = readEnvironment({ PORT: { about: 'TCP port', default: '0', schema: portText() } }, { env, prefix: 'SHOP_' })
 */
export function readEnvironment<const V extends Variables>(variables: V, source: EnvironmentSource): Environment<V> {
  const { env } = source
  const values: Record<string, unknown> = {}
  const faults: Fault[] = []
  for (const [name, variable] of Object.entries(variables)) {
    const parsed = variable.schema.safeParse(env[name] || variable.default)
    if (parsed.success) values[name] = parsed.data
    else faults.push(...parsed.error.issues.map(({ message }) => ({ path: name, message })))
  }
  faults.push(...unknownNames(Object.keys(variables), source))
  if (faults.length === 0) return values as Environment<V>
  const summary = faults.map(({ path, message }) => `${path}: ${message}`).join('; ')
  throw new CronceError('CRONCE_CONFIG_INVALID', { count: faults.length, summary }, { faults })
}

function unknownNames(own: readonly string[], { env, prefix, alsoKnown = [] }: EnvironmentSource): Fault[] {
  const known = [...own, ...alsoKnown]
  const unknown = Object.keys(env).filter((name) => name.startsWith(prefix) && !known.includes(name) && env[name])
  return unknown.toSorted().map((name) => {
    const nearest = nearestName(name, own)
    const hint = nearest ?? own.filter((candidate) => candidate.startsWith(prefix)).join(', ')
    return {
      path: name,
      message: nearest ? `unknown variable, did you mean ${hint}?` : `unknown variable, expected one of ${hint}`,
    }
  })
}
