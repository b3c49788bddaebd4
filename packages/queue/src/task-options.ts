import type { JobsOptions } from 'bullmq'

/**
 * Finished queue jobs are removed at once, failed ones too: a kept record swallows a re-add in silence (A4, W3), and what
 * became of a slot is the ledger's to say. Attempts are counted by the store; those of BullMQ only carry a task over an
 * outage of Redis in the middle of it.
 */
export const TASK_OPTIONS: JobsOptions = {
  removeOnComplete: true,
  removeOnFail: true,
  attempts: 20,
  // Not growing: a delayed record swallows every re-add, and what it waits for is an outage's end.
  backoff: { type: 'fixed', delay: 5_000, jitter: 0.5 },
}

/** BullMQ fails a job on its second stall whatever its attempts; crashes are counted by the store, both limited (W6). */
export const MOST_STALLS = 1_000_000
