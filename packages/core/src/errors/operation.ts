import type { ErrorEntry } from './catalogue.ts'

/** What operators ask for and cannot have. */
export const OPERATION_ERRORS = {
  CRONCE_USAGE: {
    message: '{reason}',
    fix: 'Ask the command itself: `cronce help`, or `cronce <verb> --help` with examples.',
  },
  CRONCE_JOB_UNKNOWN: {
    message: 'expected a job of {owner}, got "{name}"{suggestion}',
    fix: 'List them with `cronce jobs`.',
  },
  CRONCE_JOBS_MODULE: {
    message: 'the job definitions at {module} cannot be loaded: {reason}',
    fix: 'Name the module with --jobs: it exports `jobs`, a list of what defineJob made.',
  },
  CRONCE_UNEXPECTED: {
    message: 'something went wrong that Cronce has no words for: {reason}',
    fix: 'Report it, with the stack that is on standard error.',
  },
} as const satisfies Record<string, ErrorEntry>
