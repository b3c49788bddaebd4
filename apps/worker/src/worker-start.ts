import { setTimeout as delay } from 'node:timers/promises'
import { isCronceError } from '@cronce/core'
import type { Worker } from '@cronce/worker'

const RETRY_EVERY_MS = 1_000

export interface WorkerStart {
  readonly worker: Worker
  /** Ends the wait: the process is told to stop. */
  readonly signal: AbortSignal
  readonly onRetry: (error: unknown) => void
}

/**
 * Starts the worker, again and again while Redis is out of reach: a worker that comes up before Redis is not ready yet,
 * and no reason for a crash loop.
 *
 * @throws CronceError what no waiting cures, such as CRONCE_REDIS_UNSAFE
 */
export async function startWorker({ worker, signal, onRetry }: WorkerStart): Promise<'started' | 'aborted'> {
  while (!signal.aborted) {
    try {
      await worker.start()
      return 'started'
    } catch (error) {
      if (isCronceError(error) && error.code !== 'CRONCE_REDIS_UNREACHABLE') throw error
      onRetry(error)
      await delay(RETRY_EVERY_MS, undefined, { signal }).catch(() => undefined)
    }
  }
  return 'aborted'
}
