import type { ErrorEntry } from './catalogue.ts'

/** Handlers and what happens around them. */
export const WORKER_ERRORS = {
  CRONCE_WORKER_INVALID: {
    message: 'the worker is refused, {count} fault(s): {summary}',
    fix: 'Correct every fault listed in `faults`; nothing was started.',
  },
  CRONCE_WORKER_STOPPED: {
    message: 'worker {worker} was stopped and does not start again',
    fix: 'Make a new worker with createWorker.',
  },
  CRONCE_ENTITY_TIMEOUT: {
    message: 'entity "{entity}" did not finish within {timeoutMs} ms',
    fix: 'Make the handler heed ctx.signal, or raise `timeout`.',
  },
  CRONCE_CALL_TIMEOUT: {
    message: '{call} did not finish within {timeoutMs} ms',
    fix: 'Make it heed its signal and answer sooner, or raise `timeout`.',
  },
  CRONCE_SOURCE_INVALID: {
    message: 'the entity source is refused: expected {expected}, got {got}',
    fix: 'Correct `entities` in the handler; the run goes on from the page that was refused.',
  },
  CRONCE_ENTITY_REFUSED: {
    message: 'the entity cannot be executed: {reason}',
    fix: 'Correct the source or the schema, then redrive the dead letter.',
  },
  CRONCE_ENTITY_ABANDONED: {
    message:
      'the handler was started by {worker} and its end is not known ({why}); onCrash "skip" does not start it again',
    fix: 'Find out whether its effect happened; then discard the dead letter, or redrive it by name.',
  },
  CRONCE_ENTITY_CRASHED: {
    message: '{crashes} workers died while this entity ran alone',
    fix: 'Run the entity under a debugger or with more memory; then redrive the dead letter.',
  },
  CRONCE_DONE_CRASHED: {
    message: '`done` was started {starts} times, and workers died over it',
    fix: 'Run it under a debugger or with more memory; then redrive the dead letter of the run.',
  },
  CRONCE_EFFECT_INVALID: {
    message: 'expected an effect name of 1 to {longest} characters on one line, got {got}',
    fix: 'Name the effect by a constant such as "invoice".',
  },
  CRONCE_ATTEMPT_OVER: {
    message: '{slot}: this attempt at entity "{entity}" is over; it starts no further effect',
    fix: 'Nothing to do: the attempt timed out or was aborted, and another goes on. Make the handler heed ctx.signal.',
  },
  CRONCE_FENCED_OFF: {
    message: '{slot}: another worker took over (fence {fence}); nothing more is written here',
    fix: 'Nothing to do: the newer holder goes on.',
  },
  CRONCE_SHUTDOWN: {
    message: 'the worker is shutting down',
    fix: 'Nothing to do: what was not finished was handed back. Raise `shutdownTimeout` where handlers need longer.',
  },
  CRONCE_NO_HANDLER: {
    message:
      'no live worker has a handler for job "{job}" version {version} by its finish tolerance; the run is failed',
    fix: 'Deploy a worker with that handler, then `cronce dead retry` the run.',
  },
  CRONCE_THREAD_INVALID: {
    message: 'inThread is refused: {summary}',
    fix: 'Pass the URL of a module, such as new URL("./render.js", import.meta.url).',
  },
  CRONCE_THREAD_ENDED: {
    message: 'the thread ended before it had answered: {reason}',
    fix: 'Look at what the module does to its thread; raise resourceLimits where it runs out of memory.',
  },
  CRONCE_PLAN_CRASHED: {
    message: '{slot}: workers died again and again while they read its entities; the run is failed',
    fix: 'Look at what the entity source does to its process; then `cronce dead retry` the run.',
  },
} as const satisfies Record<string, ErrorEntry>
