import {
  CronceError,
  formatDeadLetterId,
  formatDoneLetterId,
  type JobSettings,
  parseJobSettings,
  slotKeyOf,
} from '@cronce/core'
import { showDeadLetters, type Task, type TaskOutcome } from '@cronce/queue'
import {
  askForLook,
  endDone,
  failUnserved,
  listWorkers,
  type RunEnd,
  readJob,
  readSlot,
  readTime,
  settleChunk,
  startChunk,
  startDone,
} from '@cronce/store'
import { chooseMembers } from './chunk-decisions.ts'
import { memberFailure } from './chunk-outcomes.ts'
import { AT_ONCE, FINISHED } from './run-progress.ts'
import { SettleBuffer } from './settle-buffer.ts'
import { keptError } from './thrown-value.ts'
import type { WorkerContext } from './worker-context.ts'

/** A worker that was not heard of for this many heartbeats is taken for gone. */
const HEARTBEATS_MISSED = 3

/** ... but not sooner than this, ms: other workers may beat more slowly than this one. */
const LEAST_SILENCE_MS = 60_000

/** How long a task that was given up waits where the job's limit is reached, ms. */
const LIMIT_WAIT_MS = 1_000

/**
 * W1: a task of a run whose handler (or version) no live worker has by its finish tolerance is given up, with dead letters that can be
 * redriven when one has it. Until then it is handed from worker to worker: a rollout may be under way. A run that is under way must
 * have stood still for as long as that, too. Answers what becomes of the task; undefined: it is handed back.
 */
export async function giveUpUnserved(context: WorkerContext, task: Task): Promise<TaskOutcome | undefined> {
  const { store } = context
  const [stored, entry] = await Promise.all([readJob(store, task.job), readSlot(store, task.job, task.id)])
  const settings = stored === undefined ? undefined : parseJobSettings(stored.settings).ok
  if (settings === undefined || entry === undefined) return undefined
  const now = await readTime(store)
  const { finishMs } = settings.tolerance
  const isDone = task.kind === 'done'
  // A slot that is caught up may be hours old when it is placed; its time for a worker counts from there.
  const fromAt = isDone ? (entry.finishedAt ?? now) : Math.max(entry.effectiveAt, entry.enqueuedAt ?? 0)
  const isOverdue = now > fromAt + finishMs
  if (!isOverdue && entry.state !== 'running') return undefined
  if (await isServed(context, task, now)) return undefined
  if (isDone) return isOverdue ? await giveUpDone(context, task) : undefined
  const slot = slotKeyOf(task)
  const deadLetterId = formatDeadLetterId(slot)
  const { status, ended } = await failUnserved(store, task, {
    ...{ ...context.executor, error: errorOf(context, task), deadLetterId, isOverdue },
    standstillMs: finishMs,
  })
  if (status === 'standing' || status === 'over') return undefined
  await tellEnd(context, task, { ended, letters: [deadLetterId] })
  return status === 'given-up' && task.kind === 'chunk' ? await giveUpChunk(context, task, settings) : FINISHED
}

async function isServed({ store, timing }: WorkerContext, task: Task, now: number): Promise<boolean> {
  const workers = await listWorkers(store, now - Math.max(timing.heartbeatMs * HEARTBEATS_MISSED, LEAST_SILENCE_MS))
  return workers.some(({ leftAt, handlers }) => leftAt === undefined && handlers[task.job] === task.version)
}

/** What is left of a chunk is dead letters; what crashed or was interrupted before is that. */
async function giveUpChunk(context: WorkerContext, task: Task, settings: JobSettings): Promise<TaskOutcome> {
  const { store, clock, executor, timing } = context
  const { worker } = executor
  const start = await startChunk(store, task, { number: task.number, worker, token: context.token() })
  if (start.status === 'later') return { kind: 'again', delayMs: Math.max(LIMIT_WAIT_MS, start.waitMs) }
  if (start.status !== 'run') return FINISHED
  const rules = { ...settings, concurrency: settings.chunk.concurrency, crashLimit: timing.crashLimit, worker }
  const { ends, members, suspects } = chooseMembers(start, rules)
  const error = noHandler(task)
  const unserved = [...members, ...suspects].map((member) => ({
    member,
    verdict: 'dead' as const,
    reason: 'no handler',
    error,
    attempts: member.attempts,
  }))
  const facts = { slot: slotKeyOf(task), at: start.now, worker, redact: undefined }
  const failures = [...ends, ...unserved].map(({ member, error: thrown, ...end }) =>
    memberFailure(member, { ...end, thrown, nextAttemptAt: 0 }, facts),
  )
  const hold = { ...executor, number: task.number, fence: start.fence }
  const buffer = new SettleBuffer({
    ...{ clock, everyMs: timing.settleMs, onTrouble: () => undefined },
    write: (part) => settleChunk(store, task, { ...hold, ...part }),
  })
  for (const failure of failures) buffer.addFailure(failure)
  const { ended } = await buffer.flush({ handBack: true })
  await tellEnd(context, task, { ended, letters: failures.map(({ deadLetterId }) => deadLetterId) })
  return FINISHED
}

/** Nobody can tell the outcome: the run's `done` is a dead letter, and runs when it is redriven. */
async function giveUpDone(context: WorkerContext, task: Task): Promise<TaskOutcome> {
  const { store, executor } = context
  const start = await startDone(store, task, { version: task.number, worker: executor.worker, token: context.token() })
  if (start.entry === undefined) return FINISHED
  const deadLetterId = formatDoneLetterId(slotKeyOf(task))
  const end = { version: task.number, verdict: 'dead', attempt: start.attempt, deadLetterId } as const
  await endDone(store, task, { ...executor, ...end, error: errorOf(context, task) })
  await tellEnd(context, task, { ended: undefined, letters: [deadLetterId] })
  return FINISHED
}

async function tellEnd(
  { store, enqueuer, events }: WorkerContext,
  task: Task,
  { ended, letters }: { ended: RunEnd | undefined; letters: readonly string[] },
): Promise<void> {
  if (ended !== undefined) {
    events.emit('run.ended', { slot: slotKeyOf(task), ...ended })
    // T9: a slot may wait for this end.
    await askForLook(store, 'watch', [{ job: task.job, lookAt: AT_ONCE }])
  }
  await showDeadLetters({ store, enqueuer, job: task.job, ids: letters })
}

function noHandler({ job, version }: Task): CronceError {
  return new CronceError('CRONCE_NO_HANDLER', { job, version })
}

function errorOf({ clock, executor }: WorkerContext, task: Task): string {
  return keptError(noHandler(task), { number: 0, at: clock.now(), worker: executor.worker })
}
