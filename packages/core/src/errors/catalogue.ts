import { CONFIG_ERRORS } from './config.ts'
import { CONSOLE_ERRORS } from './console.ts'
import { JOB_ERRORS } from './job.ts'
import { OPERATION_ERRORS } from './operation.ts'
import { SCHEDULE_ERRORS } from './schedule.ts'
import { STORE_ERRORS } from './store.ts'
import { WATCHDOG_ERRORS } from './watchdog.ts'
import { WORKER_ERRORS } from './worker.ts'

/** One row of the catalogue. */
export interface ErrorEntry {
  /** The sentence, with `{field}` placeholders: what was expected, what came, what follows. */
  readonly message: string
  /** What to do next, in the imperative. */
  readonly fix: string
}

/** Every error Cronce can raise, by stable code. `docs/errors.md` is tested equal to it. */
export const ERRORS = {
  ...JOB_ERRORS,
  ...SCHEDULE_ERRORS,
  ...CONFIG_ERRORS,
  ...STORE_ERRORS,
  ...WORKER_ERRORS,
  ...WATCHDOG_ERRORS,
  ...OPERATION_ERRORS,
  ...CONSOLE_ERRORS,
} as const satisfies Readonly<Record<string, ErrorEntry>>

export type ErrorCode = keyof typeof ERRORS
