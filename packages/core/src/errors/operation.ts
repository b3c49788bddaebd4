import type { ErrorEntry } from './catalogue.ts'

/** What operators ask for and cannot have. */
export const OPERATION_ERRORS = {
  CRONCE_JOB_UNKNOWN: {
    message: 'expected a job of service "{service}", got "{name}"',
    fix: 'List them with `cronce jobs`.',
  },
} as const satisfies Record<string, ErrorEntry>
