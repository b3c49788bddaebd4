import { setTimeout as delay } from 'node:timers/promises'
import { isCronceError } from '@cronce/core'
import type { Trigger } from '@cronce/trigger'

const RETRY_EVERY_MS = 1_000

export interface TriggerStart {
  readonly trigger: Trigger
  /** Ends the wait: the process is told to stop. */
  readonly signal: AbortSignal
  readonly onRetry: (error: unknown) => void
}

/**
 * Starts the trigger, again and again while Redis is out of reach: a replica that comes up before Redis is not ready yet,
 * and no reason for a crash loop.
 *
 * @throws CronceError what no waiting cures, such as CRONCE_REDIS_UNSAFE
 */
export async function startTrigger({ trigger, signal, onRetry }: TriggerStart): Promise<'started' | 'aborted'> {
  while (!signal.aborted) {
    try {
      await trigger.start()
      return 'started'
    } catch (error) {
      if (isCronceError(error) && error.code !== 'CRONCE_REDIS_UNREACHABLE') throw error
      onRetry(error)
      await delay(RETRY_EVERY_MS, undefined, { signal }).catch(() => undefined)
    }
  }
  return 'aborted'
}
