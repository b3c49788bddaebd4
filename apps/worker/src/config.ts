import { parseArgs } from 'node:util'
import {
  CronceError,
  durationText,
  type Environment,
  lineText,
  optionalText,
  optionalUrlText,
  portText,
  readEnvironment,
  urlText,
  type Variables,
  wholeText,
  wordText,
} from '@cronce/core'
import { ALARM_VARIABLES } from './alarm-variables.ts'
import { heartbeatsText } from './heartbeats-text.ts'
import { queuesText } from './queues-text.ts'

/** Every variable of the worker. `.env.example` is tested equal. */
export const WORKER_VARIABLES = {
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
  CRONCE_WORKER_ID: {
    about:
      'Name of this worker in the ledger and logs, unique in the service. Unset: host name, process id and a random suffix.',
    default: '',
    schema: optionalText(),
  },
  CRONCE_QUEUES: {
    about:
      'Queues with tasks at once in this process, as on the command line (--queues): name:concurrency,name:concurrency.',
    default: 'default:5,reports:2',
    schema: queuesText(),
  },
  CRONCE_RECEIVER_URL: {
    about: "Where the handlers' effects go: an HTTP API that is idempotent by the header idempotency-key.",
    schema: urlText(['http:', 'https:']),
  },
  POSTGRES_URL: {
    about: 'Postgres for the receipts: postgresql://[user:password@]host:port/database. Unset: they are in Redis.',
    default: '',
    schema: optionalUrlText(['postgresql:', 'postgres:']),
  },
  CRONCE_REPORT_PACKAGES: {
    about: 'How many packages the report is over; beyond the 20,000 real ones they are repeated under new keys.',
    default: '20000',
    schema: wholeText({ least: 1, most: 10_000_000 }),
  },
  CRONCE_LOCK: {
    about: 'How long a silent worker keeps a task before another may take it.',
    default: '30s',
    schema: durationText({ leastMs: 500, mostMs: 600_000 }),
  },
  CRONCE_STALLED_EVERY: {
    about: 'How often silent workers are looked for.',
    default: '30s',
    schema: durationText({ leastMs: 200, mostMs: 600_000 }),
  },
  CRONCE_RECEIPT_LEASE: {
    about: "How long an effect under way stays its attempt's after the worker fell silent.",
    default: '30s',
    schema: durationText({ leastMs: 500, mostMs: 600_000 }),
  },
  CRONCE_CRASH_LIMIT: {
    about: 'How often an entity may take its worker down, alone, before it is a dead letter.',
    default: '2',
    schema: wholeText({ least: 1, most: 1_000 }),
  },
  CRONCE_SWEEP_EVERY: {
    about: 'How often this process looks for what others left open.',
    default: '10s',
    schema: durationText({ leastMs: 200, mostMs: 600_000 }),
  },
  ...ALARM_VARIABLES,
  CRONCE_HEARTBEATS: {
    about:
      'Heartbeat URLs by job, got after each run that succeeded: job=https://... job=https://..., separated by blanks.',
    default: '',
    schema: heartbeatsText(),
  },
} as const satisfies Variables

/** Variables of the service, which often shares an environment file, and of the command line. */
const OTHERS = [
  'CRONCE_REPLICA_ID',
  'CRONCE_CLAIM_LEASE',
  'CRONCE_JOBS',
  'CRONCE_OPERATOR',
  'CRONCE_CONSOLE_TOKENS',
  'CRONCE_CONSOLE_LINK',
  'CRONCE_CONSOLE_SESSION',
]

/** Variables of this project's own tools. */
const TOOLS = ['CRONCE_REDIS_SERVER', 'CRONCE_CHROMIUM', 'CRONCE_TEST_RUN', 'CRONCE_TEST_CHILD']

export type WorkerConfig = Environment<typeof WORKER_VARIABLES>

/**
 * The configuration of a worker process: its environment, over which `--queues` on the command line goes.
 *
 * @throws CronceError CRONCE_CONFIG_INVALID with every fault
 */
export function readWorkerConfig(
  args: readonly string[] = process.argv.slice(2),
  env: Readonly<Record<string, string | undefined>> = process.env,
): WorkerConfig {
  const queues = readQueuesOption(args)
  const merged = queues === undefined ? env : { ...env, CRONCE_QUEUES: queues }
  return readEnvironment(WORKER_VARIABLES, { env: merged, prefix: 'CRONCE_', alsoKnown: [...OTHERS, ...TOOLS] })
}

function readQueuesOption(args: readonly string[]): string | undefined {
  try {
    return parseArgs({ args: [...args], options: { queues: { type: 'string' } } }).values.queues
  } catch (error) {
    const message = `expected --queues name:concurrency,..., got ${args.join(' ')}`
    const faults = [{ path: 'command line', message }]
    throw new CronceError('CRONCE_CONFIG_INVALID', { count: 1, summary: message }, { faults, cause: error })
  }
}
