import type { ErrorEntry } from './catalogue.ts'

/** The alarm for what did not run, and its way to people. */
export const WATCHDOG_ERRORS = {
  CRONCE_WATCHDOG_INVALID: {
    message: 'the watchdog is refused, {count} fault(s): {summary}',
    fix: 'Correct every fault listed in `faults`; nothing was started.',
  },
  CRONCE_DELIVERY_FAILED: {
    message: '{target} did not take it: {reason}',
    fix: 'Check the URL and its receiver; alarms are tried again with growing pauses, then kept in the journal.',
  },
} as const satisfies Record<string, ErrorEntry>
