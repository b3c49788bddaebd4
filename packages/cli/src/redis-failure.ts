import { type Clock, CronceError, isCronceError } from '@cronce/core'

/** Answers of a server that is there and not ready, or that does not let us in: for us, it is out of reach. */
const CLOSED_DOOR = /^(NOAUTH|WRONGPASS|LOADING|MASTERDOWN|CLUSTERDOWN|ERR max number of clients)\b/

/** What ioredis and node throw when nothing answers. */
const NO_ANSWER =
  /Connection is closed|max retries per request|Command timed out|ECONN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|EPIPE|socket|Stream isn't writeable|Unknown RESP type|deadline/i

export interface FailedConnection {
  /** The last error that the connection itself reported: closer to the cause than that of a command. */
  readonly lastError: unknown
  readonly address: string
  readonly deadlineMs: number
}

/** An error of a command, as one of the catalogue where it is about Redis. */
export function asRedisFailure(error: unknown, { lastError, address, deadlineMs }: FailedConnection): unknown {
  if (isCronceError(error)) return error
  const message = messageOf(error)
  const isReply = error instanceof Error && error.name === 'ReplyError'
  if (CLOSED_DOOR.test(message) || (!isReply && NO_ANSWER.test(message))) {
    const reason = lastError === undefined ? message : messageOf(lastError)
    return new CronceError('CRONCE_REDIS_UNREACHABLE', { address, timeoutMs: deadlineMs, reason }, { cause: error })
  }
  return isReply ? new CronceError('CRONCE_REDIS_REFUSED', { address, reason: message }, { cause: error }) : error
}

/** The answer, unless it takes longer than the deadline. */
export async function within<T>(
  answer: Promise<T>,
  { deadlineMs, clock }: { deadlineMs: number; clock: Clock },
): Promise<T> {
  let cancel = (): void => undefined
  const deadline = new Promise<never>((_, reject) => {
    cancel = clock.after(deadlineMs, () => reject(new Error('the deadline passed without an answer')))
  })
  try {
    return await Promise.race([answer, deadline])
  } finally {
    cancel()
  }
}

/** Also of an AggregateError, whose own message is empty: `localhost` has two addresses. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ')
  return error instanceof Error ? error.message : String(error)
}
