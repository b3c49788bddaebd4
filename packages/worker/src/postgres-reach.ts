import { isCronceError } from '@cronce/core'
import { RetryLaterError } from './handler-errors.ts'

/** How long an entity waits for a Postgres that is out of reach before it is tried again. */
const OUTAGE_WAIT = '2s'

/** A Postgres out of reach is no fault of the entity: it is tried later, without using up an attempt. */
export async function reachPostgres<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isCronceError(error, 'CRONCE_POSTGRES_UNREACHABLE')) throw error
    throw new RetryLaterError({ after: OUTAGE_WAIT, message: error.message, cause: error })
  }
}
