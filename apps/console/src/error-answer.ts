import { CronceError, type ErrorCode, isCronceError } from '@cronce/core'
import type { ErrorAnswer } from './answers.ts'

const STATUS: Readonly<Partial<Record<ErrorCode, number>>> = {
  CRONCE_CONSOLE_SIGN_IN: 401,
  CRONCE_CONSOLE_ROLE: 403,
  CRONCE_NOT_ALLOWED: 403,
  CRONCE_CONSOLE_ORIGIN: 403,
  CRONCE_CONSOLE_PROXY: 403,
  CRONCE_CONSOLE_WAIT: 429,
  CRONCE_TRIGGER_SIGNATURE: 401,
  CRONCE_TRIGGER_REPEATED: 409,
  CRONCE_CONSOLE_REQUEST: 400,
  CRONCE_CONSOLE_STALE: 409,
  CRONCE_CONSOLE_BUSY: 503,
  CRONCE_INPUT_INVALID: 400,
  CRONCE_SLOT_KEY_INVALID: 400,
  CRONCE_JOB_UNKNOWN: 404,
  CRONCE_RUN_UNKNOWN: 404,
  CRONCE_DEAD_LETTER_UNKNOWN: 404,
  CRONCE_JOB_UNREADABLE: 409,
  CRONCE_JOB_HELD: 409,
  CRONCE_JOB_CARRIED: 409,
  CRONCE_SLOT_DONE: 409,
  CRONCE_SLOT_BUSY: 409,
  CRONCE_SLOT_EARLY: 409,
  CRONCE_SLOT_MOVED: 409,
  CRONCE_SLOT_FOREIGN: 404,
  CRONCE_FOLD_MISSING: 409,
  CRONCE_REDIS_UNREACHABLE: 503,
}

/** What ioredis and node throw when nothing answers, and what a server says that is not ready. */
const NO_ANSWER =
  /Connection is closed|max retries per request|Command timed out|ECONN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|EPIPE|socket|Stream isn't writeable|^(NOAUTH|WRONGPASS|LOADING|MASTERDOWN|CLUSTERDOWN)\b/i

/** Errors of a request that fastify found, by what a client can do about them. */
const MALFORMED: Readonly<Record<string, string>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'the body is too large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'expected content-type application/json',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'expected a JSON body, got an empty one',
  FST_ERR_CTP_INVALID_JSON_BODY: 'expected a JSON body, got something else',
}

/** An error as the answer to a request. `unexpected`: it is for the log, and the client learns nothing of it. */
export interface AnsweredError {
  readonly status: number
  readonly body: ErrorAnswer
  readonly kind: 'expected' | 'unexpected'
  /** Of the header `retry-after`; undefined where waiting does not help. */
  readonly waitS?: number | undefined
}

export function errorAnswer(error: unknown, { redisAddress }: { redisAddress: string }): AnsweredError {
  if (isCronceError(error)) return answerOf(error, STATUS[error.code] ?? 500)
  const { code, statusCode, message } = readError(error)
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    const reason = MALFORMED[code] ?? message
    return answerOf(new CronceError('CRONCE_CONSOLE_REQUEST', { reason }), statusCode)
  }
  if (NO_ANSWER.test(message)) {
    const fields = { address: redisAddress, timeoutMs: 5_000, reason: message }
    return answerOf(new CronceError('CRONCE_REDIS_UNREACHABLE', fields), 503)
  }
  const body = { error: { code: 'INTERNAL', message: 'the console failed; its log has the error' } }
  return { status: 500, body, kind: 'unexpected' }
}

function answerOf(error: CronceError, status: number): AnsweredError {
  const { code, message, fix, faults, fields } = error
  const state = status === 409 ? presentState(fields) : {}
  const list = faults.length === 0 ? {} : { faults }
  return {
    status,
    body: { error: { code, message, fix, ...list, ...state } },
    kind: status === 500 ? 'unexpected' : 'expected',
    waitS: status === 429 ? Number(fields['seconds']) : undefined,
  }
}

/** What is so by now, for whoever asked too late. */
function presentState({ state, reason }: CronceError['fields']): { state?: string } {
  const present = state ?? reason
  return present === undefined ? {} : { state: String(present) }
}

function readError(error: unknown): { code: string; statusCode: number | undefined; message: string } {
  if (!(error instanceof Error)) return { code: '', statusCode: undefined, message: String(error) }
  const { code, statusCode } = error as { code?: unknown; statusCode?: unknown }
  return {
    code: typeof code === 'string' ? code : '',
    statusCode: typeof statusCode === 'number' ? statusCode : undefined,
    message: error.message,
  }
}
