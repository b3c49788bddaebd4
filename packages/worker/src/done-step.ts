import { CronceError, formatDoneLetterId, isCronceError, parseSlotId, retryDelay } from '@cronce/core'
import type { TaskOutcome } from '@cronce/queue'
import { endDone, type LedgerEntry, listDeadLetterIdsOf, readDeadLetter, startDone } from '@cronce/store'
import type { DoneContext, RunSummary } from './done-summary.ts'
import { formatIdempotencyKey } from './idempotency-key.ts'
import { acknowledge, FINISHED, showLetters, type TaskInHand } from './run-progress.ts'
import { describeThrown, keptError } from './thrown-value.ts'
import { callInTime } from './timed-call.ts'

/** Dead letters of a page of the summary, where none is asked for. */
const LETTERS_PER_PAGE = 100

/** W7: runs `done` for one outcome of a run, with attempts of its own. */
export async function runDone(inHand: TaskInHand): Promise<TaskOutcome> {
  const { context, handler, run, task } = inHand
  const { store, executor, clock, shutdown } = context
  const start = await startDone(store, run, { version: task.number, worker: executor.worker, token: context.token() })
  if (start.entry === undefined) return acknowledge(inHand, start.status)
  const { attempt, entry } = start
  const { done } = handler
  // This release has none any more: there is nothing left to do for the outcome.
  if (done === undefined) return await endAttempt(inHand, { attempt, verdict: 'done' })
  // Attempts are counted when they start; those that no failure was written of were crashes.
  const { attempts } = handler.job.retry
  if (attempt > attempts + context.timing.crashLimit) {
    return await failAttempt(inHand, { attempt, error: new CronceError('CRONCE_DONE_CRASHED', { starts: attempt }) })
  }
  try {
    await callInTime({
      clock,
      shutdown,
      timeoutMs: handler.job.timeoutMs,
      name: '`done`',
      call: (signal) => done(summarise(inHand, entry), contextOf(inHand, { attempt, signal })),
    })
  } catch (error) {
    if (isCronceError(error, 'CRONCE_SHUTDOWN')) {
      await endAttempt(inHand, { attempt, verdict: 'back' })
      return { kind: 'again', delayMs: 0 }
    }
    return await failAttempt(inHand, { attempt, error })
  }
  return await endAttempt(inHand, { attempt, verdict: 'done' })
}

function summarise({ context, run, slot }: TaskInHand, entry: LedgerEntry): RunSummary {
  const { cause, state, startedAt, finishedAt, version, effectiveAt } = entry
  return {
    slot: { key: slot, job: run.job, at: parseSlotId(run.id)?.at ?? entry.at, effectiveAt },
    ...{ cause, state, startedAt, finishedAt, version },
    counts: entry.entities,
    deadLetters: async ({ offset = 0, limit = LETTERS_PER_PAGE } = {}) => {
      const ids = await listDeadLetterIdsOf(context.store, run, { offset, limit })
      const letters = await Promise.all(ids.map((id) => readDeadLetter(context.store, run.job, id)))
      return letters.filter((letter) => letter !== undefined)
    },
  }
}

function contextOf(
  { context, slot, task }: TaskInHand,
  { attempt, signal }: { attempt: number; signal: AbortSignal },
): DoneContext {
  return {
    attempt,
    signal,
    log: context.log.child({ slot, done: task.number, attempt }),
    idempotencyKey: (effect) => formatIdempotencyKey(slot, `done-${task.number}`, effect),
  }
}

async function failAttempt(
  inHand: TaskInHand,
  { attempt, error }: { attempt: number; error: unknown },
): Promise<TaskOutcome> {
  const { context, handler, slot } = inHand
  const { attempts, backoff } = handler.job.retry
  const final = attempt >= attempts
  const outcome = await endAttempt(inHand, { attempt, verdict: final ? 'dead' : 'retry', error })
  context.events.emit('done.failed', { slot, error: describeThrown(error), attempt, final })
  if (!final) return { kind: 'again', delayMs: retryDelay(backoff, attempt, context.random) }
  await showLetters(inHand, [formatDoneLetterId(inHand.slot)])
  return outcome
}

async function endAttempt(
  inHand: TaskInHand,
  end: { attempt: number; verdict: 'done' | 'retry' | 'dead' | 'back'; error?: unknown },
): Promise<TaskOutcome> {
  const { context, run, task } = inHand
  const { store, executor, clock } = context
  const kept = { number: end.attempt, at: clock.now(), worker: executor.worker }
  await endDone(store, run, {
    ...executor,
    version: task.number,
    verdict: end.verdict,
    attempt: end.attempt,
    error: end.verdict === 'done' || end.verdict === 'back' ? '' : keptError(end.error, kept),
    deadLetterId: formatDoneLetterId(inHand.slot),
  })
  return FINISHED
}
