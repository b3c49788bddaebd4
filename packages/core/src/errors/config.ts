import type { ErrorEntry } from './catalogue.ts'

/** Configuration that is refused at start. */
export const CONFIG_ERRORS = {
  CRONCE_CONFIG_INVALID: {
    message: 'the configuration is refused, {count} fault(s): {summary}',
    fix: 'Correct every fault listed; .env.example documents each variable.',
  },
} as const satisfies Record<string, ErrorEntry>
