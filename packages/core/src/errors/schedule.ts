import type { ErrorEntry } from './catalogue.ts'

/** Schedules that are refused when they are defined. */
export const SCHEDULE_ERRORS = {
  CRONCE_SCHEDULE_FIELDS: {
    message: 'expected {expected} fields ({names}), got {count}: "{expression}"',
    fix: 'Write five fields, or ask for six (seconds first) with `seconds: true`.',
  },
} as const satisfies Record<string, ErrorEntry>
