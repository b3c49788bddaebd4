import type { ErrorEntry } from './catalogue.ts'

/** Definitions that are refused. */
export const JOB_ERRORS = {
  CRONCE_JOB_INVALID: {
    message: 'job "{name}" is refused, {count} fault(s): {summary}',
    fix: 'Correct every fault listed in `faults`; nothing was registered.',
  },
  CRONCE_JOB_DUPLICATE: {
    message: 'expected job names to be unique, got "{name}" {count} times',
    fix: 'Rename one of them; a rename without running both is `was: "old-name"`.',
  },
  CRONCE_JOB_WAS_PRESENT: {
    message: 'expected `was` of job "{name}" to name a job that is gone, got "{was}", which {reason}',
    fix: 'Remove the old definition in the same change, and name each former job once.',
  },
  CRONCE_SLOT_KEY_INVALID: {
    message: 'expected a slot key such as invoice-run@20260825T020000Z, got "{got}"',
    fix: 'Copy the key whole from `cronce runs`.',
  },
  CRONCE_DURATION_INVALID: {
    message: 'expected a duration such as "15m" or a whole number of milliseconds, got {got}',
    fix: 'Use a number with ms, s, m, h, d or w, for example "90s".',
  },
} as const satisfies Record<string, ErrorEntry>
