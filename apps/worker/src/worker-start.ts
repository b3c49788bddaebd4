import { setTimeout as delay } from 'node:timers/promises'
import { isCronceError } from '@cronce/core'
import type { Worker } from '@cronce/worker'

const RETRY_EVERY_MS = 1_000

/** What waiting may cure. */
const PASSING: ReadonlySet<string> = new Set(['CRONCE_REDIS_UNREACHABLE', 'CRONCE_POSTGRES_UNREACHABLE'])

export interface WorkerStart {
  readonly worker: Worker
  /** Makes ready what the worker stands on, before every try. */
  readonly prepare: (() => Promise<void>) | undefined
  /** Ends the wait: the process is told to stop. */
  readonly signal: AbortSignal
  readonly onRetry: (error: unknown) => void
}

/**
 * Starts the worker, again and again while Redis or Postgres is out of reach: a worker that comes up before them is not ready yet,
 * and no reason for a crash loop.
 *
 * @throws CronceError what no waiting cures, such as CRONCE_REDIS_UNSAFE
 */
export async function startWorker({ worker, prepare, signal, onRetry }: WorkerStart): Promise<'started' | 'aborted'> {
  while (!signal.aborted) {
    try {
      await prepare?.()
      await worker.start()
      return 'started'
    } catch (error) {
      if (isCronceError(error) && !PASSING.has(error.code)) throw error
      onRetry(error)
      await delay(RETRY_EVERY_MS, undefined, { signal }).catch(() => undefined)
    }
  }
  return 'aborted'
}
