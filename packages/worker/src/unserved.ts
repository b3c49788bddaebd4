import { CronceError, formatDeadLetterId, parseJobSettings } from '@cronce/core'
import { showDeadLetters, slotKeyOf, type Task } from '@cronce/queue'
import { failUnserved, listWorkers, readJob, readSlot } from '@cronce/store'
import { keptError } from './thrown-value.ts'
import type { WorkerContext } from './worker-context.ts'

/** A worker that was not heard of for this many heartbeats is taken for gone. */
const HEARTBEATS_MISSED = 3

/**
 * W1: a run whose handler (or version) no live worker has by its finish tolerance is failed, with a dead letter, and can be redriven
 * when one has it. Until then it is handed from worker to worker: a rollout may be under way. Answers whether it was given up.
 */
export async function giveUpUnserved(context: WorkerContext, task: Task): Promise<boolean> {
  const { store, clock, timing, executor, enqueuer, events } = context
  const [stored, entry] = await Promise.all([readJob(store, task.job), readSlot(store, task.job, task.id)])
  const settings = stored === undefined ? undefined : parseJobSettings(stored.settings).ok
  if (settings === undefined || entry === undefined || entry.state !== 'enqueued') return false
  if (clock.now() <= entry.effectiveAt + settings.tolerance.finishMs) return false
  const workers = await listWorkers(store, clock.now() - timing.heartbeatMs * HEARTBEATS_MISSED)
  const isServed = workers.some(
    ({ leftAt, handlers }) => leftAt === undefined && (handlers[task.job] ?? 0) >= task.version,
  )
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
