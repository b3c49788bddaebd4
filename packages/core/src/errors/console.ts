import type { ErrorEntry } from './catalogue.ts'

/** What the console refuses. */
export const CONSOLE_ERRORS = {
  CRONCE_CONSOLE_SIGN_IN: {
    message: 'expected a session or a token that the console knows, got {got}',
    fix: 'Open the sign-in link that the console logs at its start, or send `Authorization: Bearer` with a token of CRONCE_CONSOLE_TOKENS.',
  },
  CRONCE_CONSOLE_ROLE: {
    message: '{name} has the role {role}; expected {needed} or more for {method} requests',
    fix: 'Ask somebody with the role; roles are set in CRONCE_CONSOLE_TOKENS.',
  },
  CRONCE_CONSOLE_ORIGIN: {
    message: 'the request is refused: {reason}',
    fix: 'Send changes from the console itself, or with `Authorization: Bearer` and a token instead of a session.',
  },
  CRONCE_CONSOLE_PROXY: {
    message: "the proxy's word is not taken: {reason}",
    fix: 'Ask through the proxy; who it is and whom it gives which role is set in CRONCE_CONSOLE_PROXY_FROM, _SECRET and _ROLES.',
  },
  CRONCE_CONSOLE_WAIT: {
    message: 'too many requests; wait {seconds} s',
    fix: 'Wait as long as the header Retry-After says. Who sends wrong tokens should stop.',
  },
  CRONCE_CONSOLE_REQUEST: {
    message: 'the HTTP request is refused: {reason}',
    fix: 'Correct the request; docs/console.md lists what the console answers.',
  },
  CRONCE_TRIGGER_SIGNATURE: {
    message: 'the request is not taken: expected {reason}',
    fix: 'Sign it as docs/http-trigger.md shows, with a secret of CRONCE_TRIGGER_SECRETS and a clock that is right.',
  },
  CRONCE_TRIGGER_REPEATED: {
    message: 'the request is not taken twice: {reason}',
    fix: 'Sign a new request; to try the same one again send an Idempotency-Key with it, from the first try on.',
  },
  CRONCE_CONSOLE_STALE: {
    message: '{id} is {state} by now',
    fix: 'Nothing was changed. Look at it again: somebody else was first.',
  },
  CRONCE_CONSOLE_BUSY: {
    message: '{streams} live streams are open already',
    fix: 'Nothing to do: the page asks again every two seconds instead. Close views that nobody looks at.',
  },
} as const satisfies Readonly<Record<string, ErrorEntry>>
