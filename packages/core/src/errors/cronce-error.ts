import { ERRORS, type ErrorCode } from './catalogue.ts'

/** What an error knows besides its code: plain values that fill the `{placeholders}` of its message. */
export type ErrorFields = Readonly<Record<string, string | number | boolean | undefined>>

/** One thing wrong with one value, for errors that report every fault at once. */
export interface Fault {
  /** Where: `catchUp.within`, or empty for the value as a whole. */
  readonly path: string
  /** `expected X, got Y`, and where it helps what to write instead. */
  readonly message: string
}

export interface CronceErrorOptions {
  readonly cause?: unknown
  /** Every single fault, where the error stands for several. */
  readonly faults?: readonly Fault[]
}

/**
 * The one error class of Cronce. Branch on `code` (stable, listed in `docs/errors.md`), never on the message.
 *
 * @example
 * try { defineJob(input) } catch (error) {
 *   if (isCronceError(error, 'CRONCE_JOB_INVALID')) for (const fault of error.faults) console.error(fault.path, fault.message)
 * }
 */
export class CronceError extends Error {
  override readonly name = 'CronceError'
  readonly code: ErrorCode
  readonly fields: ErrorFields
  readonly faults: readonly Fault[]

  constructor(code: ErrorCode, fields: ErrorFields = {}, options: CronceErrorOptions = {}) {
    super(
      fillTemplate(ERRORS[code].message, fields),
      options.cause === undefined ? undefined : { cause: options.cause },
    )
    this.code = code
    this.fields = fields
    this.faults = options.faults ?? []
  }

  /** What the reader should do next, from the catalogue. */
  get fix(): string {
    return ERRORS[this.code].fix
  }
}

/** Whether `error` is a {@link CronceError}, of the given code where one is given. */
export function isCronceError(error: unknown, code?: ErrorCode): error is CronceError {
  return error instanceof CronceError && (code === undefined || error.code === code)
}

function fillTemplate(template: string, fields: ErrorFields): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(fields[name] ?? `{${name}}`))
}
