import { type Duration, parseDuration } from '@cronce/core'

/**
 * Thrown by a handler: another attempt would fail alike. The entity becomes a dead letter at once.
 *
 * @example throw new NonRetryableError('the account was closed', { cause: error })
 */
export class NonRetryableError extends Error {
  override readonly name = 'NonRetryableError'
}

export interface RetryLaterOptions {
  /** How long to wait before the next attempt. */
  readonly after: Duration
  readonly message?: string
  readonly cause?: unknown
}

/**
 * Thrown by a handler: not now, such as a rate limit of the other side. Uses up no attempt until the run is past the job's
 * `tolerance.finish`; from then on it counts as any other failure, so that nothing waits for ever.
 *
 * @throws CronceError CRONCE_DURATION_INVALID
 * @example throw new RetryLaterError({ after: '30s' })
 */
export class RetryLaterError extends Error {
  override readonly name = 'RetryLaterError'
  readonly afterMs: number

  constructor({ after, message, cause }: RetryLaterOptions) {
    super(message ?? `tried again after ${after}`, cause === undefined ? undefined : { cause })
    this.afterMs = parseDuration(after)
  }
}

/** What a thrown value asks for. By name, so that a second copy of this package is understood too; never throws. */
export function readWish(
  thrown: unknown,
): { readonly kind: 'retry' | 'never' } | { readonly kind: 'later'; readonly afterMs: number } {
  try {
    if (typeof thrown !== 'object' || thrown === null) return { kind: 'retry' }
    const { name, afterMs } = thrown as { name?: unknown; afterMs?: unknown }
    if (name === 'NonRetryableError') return { kind: 'never' }
    if (name === 'RetryLaterError' && Number.isSafeInteger(afterMs))
      return { kind: 'later', afterMs: Math.max(0, Number(afterMs)) }
  } catch {
    // A revoked proxy or a getter that throws: a failure like any other.
  }
  return { kind: 'retry' }
}
