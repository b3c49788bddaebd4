import {
  CronceError,
  durationText,
  type Environment,
  type Fault,
  lineText,
  optionalUrlText,
  readEnvironment,
  type Variables,
  wordText,
} from '@cronce/core'
import { isLoopback, KNOWN_VARIABLES, PROCESS_VARIABLES } from '@cronce/process'
import { PROXY_CONFIG_VARIABLES, proxyFaults, proxyOf } from './proxy-config.ts'
import { tokensText } from './tokens-text.ts'
import { triggerSecretsText } from './trigger-text.ts'

/** Every variable of the console. `.env.example` is tested equal. */
export const CONSOLE_VARIABLES = {
  ...PROCESS_VARIABLES,
  CRONCE_CONSOLE_TOKENS: {
    about:
      'Who may use the console: name:role:token name:role:token, separated by blanks; viewer, operator or admin; tokens of 16 characters or more. This or a proxy must be set where HOST is not loopback.',
    default: '',
    schema: tokensText(),
  },
  CRONCE_CONSOLE_LINK: {
    about:
      'Role of the sign-in link that is logged at the start and works once, on loopback only: viewer, operator, admin or none.',
    default: 'operator',
    schema: wordText(['viewer', 'operator', 'admin', 'none']),
  },
  CRONCE_CONSOLE_SESSION: {
    about: 'How long a sign-in of the console lasts.',
    default: '12h',
    schema: durationText({ leastMs: 60_000, mostMs: 7 * 24 * 3_600_000 }),
  },
  CRONCE_CONSOLE_TRACE_URL: {
    about:
      'Where a trace is seen, with {trace} in place of its id: https://traces.example/trace/{trace}. Unset: ids only.',
    default: '',
    schema: optionalUrlText(['http:', 'https:']),
  },
  ...PROXY_CONFIG_VARIABLES,
  CRONCE_TRIGGER_SECRETS: {
    about:
      'Secrets of the signed HTTP trigger: job:secret,job:secret, several of a job while one is changed; 16 characters or more. Unset: there is no such trigger.',
    default: '',
    schema: triggerSecretsText(),
  },
  CRONCE_OPERATOR: {
    about: 'Who is written beside changes that are made by the sign-in link.',
    default: 'console',
    schema: lineText(),
  },
} as const satisfies Variables

export type ConsoleConfig = Environment<typeof CONSOLE_VARIABLES>

/**
 * The configuration of a console process.
 *
 * @throws CronceError CRONCE_CONFIG_INVALID with every fault; also for an address beyond loopback without tokens or a proxy
 */
export function readConsoleConfig(env: Readonly<Record<string, string | undefined>> = process.env): ConsoleConfig {
  const config = readEnvironment(CONSOLE_VARIABLES, { env, prefix: 'CRONCE_', alsoKnown: KNOWN_VARIABLES })
  const faults = [...accessFaults(config), ...proxyFaults(config), ...traceFaults(config)]
  if (faults.length === 0) return config
  const summary = faults.map(({ path, message }) => `${path}: ${message}`).join('; ')
  throw new CronceError('CRONCE_CONFIG_INVALID', { count: faults.length, summary }, { faults })
}

function traceFaults({ CRONCE_CONSOLE_TRACE_URL: url }: ConsoleConfig): Fault[] {
  if (url === undefined || url.includes('{trace}')) return []
  return [{ path: 'CRONCE_CONSOLE_TRACE_URL', message: `expected {trace} where the id of a trace goes, got ${url}` }]
}

function accessFaults(config: ConsoleConfig): Fault[] {
  const { HOST, CRONCE_CONSOLE_TOKENS: tokens } = config
  if (isLoopback(HOST) || tokens.length > 0 || proxyOf(config) !== undefined) return []
  const message = `expected at least one token or a proxy, because HOST is ${HOST}: whoever reaches the port could change runs`
  return [{ path: 'CRONCE_CONSOLE_TOKENS', message }]
}
