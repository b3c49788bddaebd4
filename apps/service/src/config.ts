import {
  durationText,
  type Environment,
  lineText,
  optionalText,
  portText,
  readEnvironment,
  urlText,
  type Variables,
  wordText,
} from '@cronce/core'
import { ALARM_VARIABLES } from './alarm-variables.ts'

/** Every variable of the service. `.env.example` is tested equal. */
export const SERVICE_VARIABLES = {
  REDIS_URL: {
    about: 'Redis: redis://[user:password@]host:port[/db], or rediss:// for TLS.',
    schema: urlText(['redis:', 'rediss:']),
  },
  CRONCE_SERVICE: {
    about: 'Namespace of the jobs; the same in every replica and worker of a service.',
    default: 'cronce',
    schema: lineText(),
  },
  CRONCE_RELEASE: {
    about: 'The release of this image, shown with what it claims and runs.',
    default: 'dev',
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
  CRONCE_REPLICA_ID: {
    about:
      'Name of this replica in claims and logs, unique in the service. Unset: host name, process id and a random suffix.',
    default: '',
    schema: optionalText(),
  },
  CRONCE_CLAIM_LEASE: {
    about: 'How long a claim holds a slot before another replica may take it.',
    default: '10s',
    schema: durationText({ leastMs: 500, mostMs: 600_000 }),
  },
  CRONCE_SWEEP_EVERY: {
    about: 'How often this process looks for what others left open.',
    default: '10s',
    schema: durationText({ leastMs: 200, mostMs: 600_000 }),
  },
  ...ALARM_VARIABLES,
} as const satisfies Variables

/** Variables of the worker, which often shares an environment file, and of the command line. */
const OTHERS = [
  'CRONCE_WORKER_ID',
  'CRONCE_QUEUES',
  'CRONCE_RECEIVER_URL',
  'CRONCE_LOCK',
  'CRONCE_STALLED_EVERY',
  'CRONCE_RECEIPT_LEASE',
  'CRONCE_REPORT_PACKAGES',
  'CRONCE_CRASH_LIMIT',
  'CRONCE_JOBS',
  'CRONCE_OPERATOR',
  'CRONCE_CONSOLE_TOKENS',
  'CRONCE_CONSOLE_LINK',
  'CRONCE_CONSOLE_SESSION',
]

/** Variables of this project's own tools. */
const TOOLS = ['CRONCE_REDIS_SERVER', 'CRONCE_CHROMIUM', 'CRONCE_TEST_RUN', 'CRONCE_TEST_CHILD']

export type ServiceConfig = Environment<typeof SERVICE_VARIABLES>

/**
 * The configuration of a service process.
 *
 * @throws CronceError CRONCE_CONFIG_INVALID with every fault
 */
export function readServiceConfig(env: Readonly<Record<string, string | undefined>> = process.env): ServiceConfig {
  return readEnvironment(SERVICE_VARIABLES, { env, prefix: 'CRONCE_', alsoKnown: [...OTHERS, ...TOOLS] })
}
