import {
  CronceError,
  durationText,
  type Environment,
  lineText,
  portText,
  readEnvironment,
  urlText,
  type Variables,
  wordText,
} from '@cronce/core'
import { tokensText } from './tokens-text.ts'

/** Every variable of the console. `.env.example` is tested equal. */
export const CONSOLE_VARIABLES = {
  REDIS_URL: {
    about: 'Redis: redis://[user:password@]host:port[/db], or rediss:// for TLS.',
    schema: urlText(['redis:', 'rediss:']),
  },
  CRONCE_SERVICE: {
    about: 'Namespace of the jobs; the same in every replica and worker of a service.',
    default: 'cronce',
    schema: lineText(),
  },
  CRONCE_SHUTDOWN_TIMEOUT: {
    about: 'How long a stop may take before it is forced; less than the platform waits before it kills.',
    default: '25s',
    schema: durationText({ leastMs: 0, mostMs: 3_600_000 }),
  },
  HOST: { about: 'Address that HTTP listens on; 0.0.0.0 in a container.', default: '127.0.0.1', schema: lineText() },
  PORT: {
    about: 'TCP port of HTTP, 0 to 65535; 0 takes any free one, the log says which.',
    default: '0',
    schema: portText(),
  },
  LOG_LEVEL: {
    about: 'debug, info, warn or error; debug has a line for every claim that is lost.',
    default: 'info',
    schema: wordText(['debug', 'info', 'warn', 'error']),
  },
  CRONCE_CONSOLE_TOKENS: {
    about:
      'Who may use the console: name:role:token name:role:token, separated by blanks; viewer, operator or admin; tokens of 16 characters or more. Must be set where HOST is not loopback.',
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
  CRONCE_OPERATOR: {
    about: 'Who is written beside changes that are made by the sign-in link.',
    default: 'console',
    schema: lineText(),
  },
} as const satisfies Variables

/** Variables of the service and the worker, which often share an environment file, and of the command line. */
const OTHERS = [
  'CRONCE_RELEASE',
  'CRONCE_REPLICA_ID',
  'CRONCE_CLAIM_LEASE',
  'CRONCE_SWEEP_EVERY',
  'CRONCE_ALARM_URL',
  'CRONCE_ALARM_SECRET',
  'CRONCE_WATCH_EVERY',
  'CRONCE_WORKER_ID',
  'CRONCE_QUEUES',
  'CRONCE_RECEIVER_URL',
  'CRONCE_LOCK',
  'CRONCE_STALLED_EVERY',
  'CRONCE_RECEIPT_LEASE',
  'CRONCE_HEARTBEATS',
  'CRONCE_REPORT_PACKAGES',
  'CRONCE_CRASH_LIMIT',
  'CRONCE_CRASH_LIMIT',
  'CRONCE_JOBS',
]

/** Variables of this project's own tools. */
const TOOLS = ['CRONCE_REDIS_SERVER', 'CRONCE_CHROMIUM', 'CRONCE_TEST_RUN', 'CRONCE_TEST_CHILD']

export type ConsoleConfig = Environment<typeof CONSOLE_VARIABLES>

/**
 * The configuration of a console process.
 *
 * @throws CronceError CRONCE_CONFIG_INVALID with every fault; also for an address beyond loopback without tokens
 */
export function readConsoleConfig(env: Readonly<Record<string, string | undefined>> = process.env): ConsoleConfig {
  const config = readEnvironment(CONSOLE_VARIABLES, { env, prefix: 'CRONCE_', alsoKnown: [...OTHERS, ...TOOLS] })
  if (isLoopback(config.HOST) || config.CRONCE_CONSOLE_TOKENS.length > 0) return config
  const message = `expected at least one token, because HOST is ${config.HOST}: whoever reaches the port could change runs`
  const faults = [{ path: 'CRONCE_CONSOLE_TOKENS', message }]
  throw new CronceError('CRONCE_CONFIG_INVALID', { count: 1, summary: message }, { faults })
}

/** Whether only this machine reaches an address. A name other than localhost may resolve to anything. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
}
