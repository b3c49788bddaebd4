import { ALARM_VARIABLES } from './alarm-variables.ts'
import { PROCESS_VARIABLES, SWEEP_VARIABLES } from './shared-variables.ts'
import { TRACE_VARIABLES } from './traces.ts'

const SERVICE = ['CRONCE_REPLICA_ID', 'CRONCE_CLAIM_LEASE']

const WORKER = [
  'CRONCE_WORKER_ID',
  'CRONCE_QUEUES',
  'CRONCE_RECEIVER_URL',
  'CRONCE_REPORT_PACKAGES',
  'CRONCE_LOCK',
  'CRONCE_STALLED_EVERY',
  'CRONCE_RECEIPT_LEASE',
  'CRONCE_CRASH_LIMIT',
  'CRONCE_HEARTBEATS',
]

const CONSOLE = [
  'CRONCE_CONSOLE_TOKENS',
  'CRONCE_CONSOLE_LINK',
  'CRONCE_CONSOLE_SESSION',
  'CRONCE_CONSOLE_TRACE_URL',
  'CRONCE_CONSOLE_PROXY_HEADER',
  'CRONCE_CONSOLE_PROXY_GROUPS',
  'CRONCE_CONSOLE_PROXY_ROLES',
  'CRONCE_CONSOLE_PROXY_FROM',
  'CRONCE_CONSOLE_PROXY_SECRET',
  'CRONCE_TRIGGER_SECRETS',
  'CRONCE_OPERATOR',
]

const COMMAND_LINE = ['CRONCE_JOBS']

/** Of this project's own tools. */
const TOOLS = ['CRONCE_REDIS_SERVER', 'CRONCE_CHROMIUM', 'CRONCE_TEST_RUN', 'CRONCE_TEST_CHILD']

/**
 * Every variable that begins with CRONCE_, whosever it is: processes often share one environment file, so none refuses
 * another's. A new variable of an app goes here too; the apps' tests of `.env.example` see what was forgotten.
 */
export const KNOWN_VARIABLES: readonly string[] = [
  ...Object.keys({ ...PROCESS_VARIABLES, ...SWEEP_VARIABLES, ...ALARM_VARIABLES, ...TRACE_VARIABLES }),
  ...SERVICE,
  ...WORKER,
  ...CONSOLE,
  ...COMMAND_LINE,
  ...TOOLS,
]
