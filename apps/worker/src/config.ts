import { parseArgs } from 'node:util'
import {
  CronceError,
  durationText,
  type Environment,
  optionalText,
  optionalUrlText,
  readEnvironment,
  urlText,
  type Variables,
  wholeText,
} from '@cronce/core'
import { ALARM_VARIABLES, KNOWN_VARIABLES, PROCESS_VARIABLES, SWEEP_VARIABLES, TRACE_VARIABLES } from '@cronce/process'
import { heartbeatsText } from './heartbeats-text.ts'
import { queuesText } from './queues-text.ts'

/** Every variable of the worker. `.env.example` is tested equal. */
export const WORKER_VARIABLES = {
  ...PROCESS_VARIABLES,
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
  ...SWEEP_VARIABLES,
  ...ALARM_VARIABLES,
  ...TRACE_VARIABLES,
  CRONCE_HEARTBEATS: {
    about:
      'Heartbeat URLs by job, got after each run that succeeded: job=https://... job=https://..., separated by blanks.',
    default: '',
    schema: heartbeatsText(),
  },
} as const satisfies Variables

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
  return readEnvironment(WORKER_VARIABLES, { env: merged, prefix: 'CRONCE_', alsoKnown: KNOWN_VARIABLES })
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
