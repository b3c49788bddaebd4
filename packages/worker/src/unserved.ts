import { CronceError, formatDeadLetterId, parseJobSettings } from '@cronce/core'
import { showDeadLetters, slotKeyOf, type Task } from '@cronce/queue'
import { failUnserved, listWorkers, readJob, readSlot, readTime } from '@cronce/store'
import { keptError } from './thrown-value.ts'
import type { WorkerContext } from './worker-context.ts'

/** A worker that was not heard of for this many heartbeats is taken for gone. */
const HEARTBEATS_MISSED = 3

/** ... but not sooner than this, ms: other workers may beat more slowly than this one. */
const LEAST_SILENCE_MS = 60_000

/**
 * W1: a run whose handler (or version) no live worker has by its finish tolerance is failed, with a dead letter, and can be redriven
 * when one has it. Until then it is handed from worker to worker: a rollout may be under way. Answers whether it was given up.
 */
export async function giveUpUnserved(context: WorkerContext, task: Task): Promise<boolean> {
  const { store, clock, timing, executor, enqueuer, events } = context
  const [stored, entry] = await Promise.all([readJob(store, task.job), readSlot(store, task.job, task.id)])
  const settings = stored === undefined ? undefined : parseJobSettings(stored.settings).ok
  if (settings === undefined || entry === undefined || entry.state !== 'enqueued') return false
  const now = await readTime(store)
  // A slot that is caught up may be hours old when it is placed; its time for a worker counts from there.
  if (now <= Math.max(entry.effectiveAt, entry.enqueuedAt ?? 0) + settings.tolerance.finishMs) return false
  const workers = await listWorkers(store, now - Math.max(timing.heartbeatMs * HEARTBEATS_MISSED, LEAST_SILENCE_MS))
  const isServed = workers.some(({ leftAt, handlers }) => leftAt === undefined && handlers[task.job] === task.version)
  if (isServed) return false
  const slot = slotKeyOf(task)
  const deadLetterId = formatDeadLetterId(slot)
  const thrown = new CronceError('CRONCE_NO_HANDLER', { job: task.job, version: task.version })
  const error = keptError(thrown, { number: 0, at: clock.now(), worker: executor.worker })
  if ((await failUnserved(store, { job: task.job, id: task.id }, { ...executor, error, deadLetterId })) !== 'failed')
    return false
  events.emit('run.ended', { slot, state: 'failed', version: 1 })
  await showDeadLetters({ store, enqueuer, job: task.job, ids: [deadLetterId] })
  return true
}
