import { durationText, lineText, portText, urlText, type Variables, wordText } from '@cronce/core'

/** The variables of every process of a service. */
export const PROCESS_VARIABLES = {
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
    about: 'The release of this image, shown with what it claims and runs, and in its metrics.',
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
} as const satisfies Variables

/** The variables of what sweeps: triggers and workers. */
export const SWEEP_VARIABLES = {
  CRONCE_SWEEP_EVERY: {
    about: 'How often this process looks for what others left open.',
    default: '10s',
    schema: durationText({ leastMs: 200, mostMs: 600_000 }),
  },
} as const satisfies Variables
