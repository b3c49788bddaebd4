import type { ErrorEntry } from './catalogue.ts'

/** What operators ask for and cannot have. */
export const OPERATION_ERRORS = {
  CRONCE_USAGE: {
    message: '{reason}',
    fix: 'Ask the command itself: `cronce help`, or `cronce <verb> --help` with examples.',
  },
  CRONCE_INPUT_INVALID: {
    message: 'the request is refused, {count} fault(s): {summary}',
    fix: 'Correct every fault listed; nothing was changed.',
  },
  CRONCE_SERVICE_UNKNOWN: {
    message: 'expected a service that Redis at {address} knows, got "{service}"',
    fix: 'Name it with --service or CRONCE_SERVICE; it is known once a replica or a worker of it has started.',
  },
  CRONCE_JOB_UNKNOWN: {
    message: 'expected a job of {owner}, got "{name}"{suggestion}',
    fix: 'List them with `cronce jobs`.',
  },
  CRONCE_JOB_UNREADABLE: {
    message: 'the stored definition of job "{job}" cannot be used by this release: {reason}',
    fix: 'Use the release that registered it, or deploy a sound definition.',
  },
  CRONCE_RUN_UNKNOWN: {
    message: 'expected a run that the ledger has, got "{slot}"',
    fix: 'Copy the slot whole from `cronce runs`.',
  },
  CRONCE_SLOT_DONE: {
    message: 'already {state}; {next}',
    fix: 'Nothing was changed. `cronce show` tells what became of the slot.',
  },
  CRONCE_SLOT_BUSY: {
    message: '{slot} is on its way: {state}',
    fix: 'Nothing was changed. Wait for its end; `cronce show` tells how it stands.',
  },
  CRONCE_SLOT_EARLY: {
    message: '{slot} is not due before {at}',
    fix: 'Wait for it, or start a run with an identity of its own: `cronce trigger` without --slot.',
  },
  CRONCE_SLOT_FOREIGN: {
    message: 'expected a slot of job "{job}", got {slot}: {reason}',
    fix: 'Copy the slot from `cronce runs` or `cronce prev`; nothing was changed.',
  },
  CRONCE_SLOT_MOVED: {
    message: '{slot} cannot be taken: the gap that holds it is counted otherwise here than where it was written',
    fix: 'Try again; where it stays so, use the release and the tzdata that the replicas run.',
  },
  CRONCE_FOLD_MISSING: {
    message: '{slot} cannot be walked again: {reason}',
    fix: 'Nothing was changed. `cronce trigger` without --slot starts a run with an identity of its own.',
  },
  CRONCE_NOT_ALLOWED: {
    message: '{name} has the role {role}; expected {needed} or more to ask for {action}',
    fix: 'Ask somebody with the role; docs/console.md lists what each role may do.',
  },
  CRONCE_JOB_HELD: {
    message: 'job "{job}" starts nothing: {reason}',
    fix: 'Resume it with `cronce resume`, or deploy it again; then ask again.',
  },
  CRONCE_JOB_CARRIED: {
    message: 'job "{job}" is part of an image; it is changed and removed by a deploy',
    fix: 'Edit its definition, or give the job that is added at run time another name.',
  },
  CRONCE_DEAD_LETTER_UNKNOWN: {
    message: 'expected the id of a dead letter, got "{id}"',
    fix: 'Copy the id whole from `cronce dead list`.',
  },
  CRONCE_JOBS_MODULE: {
    message: 'the job definitions at {module} cannot be loaded: {reason}',
    fix: 'Name the module with --jobs: it exports `jobs`, a list of what defineJob made.',
  },
  CRONCE_REDIS_UNCONFIGURED: {
    message:
      'expected a Redis, got none: neither --redis nor REDIS_URL is set, and no `npm start` runs in {folder} or above',
    fix: 'Set REDIS_URL, or run `npm start` in another terminal.',
  },
  CRONCE_REDIS_REFUSED: {
    message: 'Redis at {address} refuses: {reason}',
    fix: 'Check user, password and rights in the URL, and that the server is ready and not full.',
  },
  CRONCE_UNEXPECTED: {
    message: 'something went wrong that Cronce has no words for: {reason}',
    fix: 'Report it, with the stack that is on standard error.',
  },
} as const satisfies Record<string, ErrorEntry>
