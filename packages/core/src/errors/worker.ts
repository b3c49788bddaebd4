import type { ErrorEntry } from './catalogue.ts'

/** Handlers and what happens around them. */
export const WORKER_ERRORS = {
  CRONCE_ENTITY_TIMEOUT: {
    message: 'entity "{entity}" did not finish within {timeoutMs} ms',
    fix: 'Make the handler heed ctx.signal, or raise `timeout`.',
  },
  CRONCE_FENCED_OFF: {
    message: '{slot}: another worker took over (fence {fence}); nothing more is written here',
    fix: 'Nothing to do: the newer holder goes on.',
  },
} as const satisfies Record<string, ErrorEntry>
