import { formatDeadLetterId, type SlotKey, slotKeyOf } from '@cronce/core'
import { showDeadLetters, type Task, type TaskOutcome } from '@cronce/queue'
import { askForLook, letGo, type RunEnd, type RunRef } from '@cronce/store'
import type { Handler } from './handler.ts'
import type { WorkerContext } from './worker-context.ts'

/** One task in hand, and what runs it. */
export interface TaskInHand {
  readonly context: WorkerContext
  readonly handler: Handler
  readonly task: Task
  /** Where it was taken from, and where the rest of its run goes: another queue would not know the ids of this one. */
  readonly queue: string
  readonly run: RunRef
  readonly slot: SlotKey
}

export function takeInHand(context: WorkerContext, handler: Handler, taken: { task: Task; queue: string }): TaskInHand {
  const { task, queue } = taken
  return { context, handler, task, queue, run: { job: task.job, id: task.id }, slot: slotKeyOf(task) }
}

/** The id of the dead letter of the run's plan. */
export function planLetterId({ slot }: TaskInHand): string {
  return formatDeadLetterId(slot)
}

/** At the next sweep, whatever the clocks say. */
export const AT_ONCE = 0

export const FINISHED: TaskOutcome = { kind: 'finished' }

/** W1: a task that asks for nothing is acknowledged, never failed. */
export function acknowledge({ context, slot, task }: TaskInHand, reason: string): TaskOutcome {
  context.events.emit('task.acknowledged', { slot, task: `${task.kind} ${task.number}`, reason })
  return FINISHED
}

/** Puts tasks of this run on the job's queue. */
export async function addTasks(inHand: TaskInHand, tasks: readonly Pick<Task, 'kind' | 'number'>[]): Promise<void> {
  const { context, handler, run, queue } = inHand
  const { version } = handler.job
  await context.enqueuer.add(
    queue,
    tasks.map((task) => ({ ...task, ...run, version })),
  )
}

/**
 * W7: a write of this task ended the run, or made room for the next step of its plan. What cannot be added now is marked in the
 * store, and a sweep adds it: the task itself has done its work.
 */
export async function followUp(
  inHand: TaskInHand,
  { ended, nextStep, tookMs }: { ended: RunEnd | undefined; nextStep: number; tookMs?: number },
): Promise<void> {
  const { handler } = inHand
  if (ended !== undefined) {
    inHand.context.events.emit('run.ended', {
      slot: inHand.slot,
      ...ended,
      ...(tookMs === undefined ? {} : { tookMs }),
    })
    // T9: a slot may wait for this end.
    await orLater(inHand, askForLook(inHand.context.store, 'watch', [{ job: inHand.run.job, lookAt: AT_ONCE }]))
  }
  const tasks = [
    ...(nextStep > 0 ? [{ kind: 'plan' as const, number: nextStep }] : []),
    ...(ended !== undefined && handler.done !== undefined ? [{ kind: 'done' as const, number: ended.version }] : []),
  ]
  if (tasks.length > 0) await orLater(inHand, addTasks(inHand, tasks))
}

/** Chunks that a limit sends away come back at times of their own, ms. */
const LIMIT_SPREAD_MS = 500

/** The job's limit is reached. `waitMs`: how long it is at least; 0: until some other chunk ends. */
export function handBackLater({ context, slot, task }: TaskInHand, waitMs: number): TaskOutcome {
  const delayMs = Math.round((waitMs || LIMIT_SPREAD_MS) + LIMIT_SPREAD_MS * context.random())
  context.events.emit('chunk.handed-back', { slot, chunk: task.number, delayMs, reason: 'limit' })
  return { kind: 'again', delayMs }
}

/** W8: shows dead letters on their queue; a sweep does what fails here. */
export async function showLetters(inHand: TaskInHand, ids: readonly string[]): Promise<void> {
  const { store, enqueuer } = inHand.context
  await orLater(inHand, showDeadLetters({ store, enqueuer, job: inHand.run.job, ids }))
}

/** T9: where the chunk was taken away because its run was cancelled, the run that waits for it may start. */
export async function letGoOf(inHand: TaskInHand): Promise<void> {
  const { context, run, task } = inHand
  const release = async () => {
    await letGo(context.store, run, task.number)
    await askForLook(context.store, 'watch', [{ job: run.job, lookAt: AT_ONCE }])
  }
  await orLater(inHand, release())
}

async function orLater({ context, handler }: TaskInHand, work: Promise<void>): Promise<void> {
  await work.catch((error: unknown) =>
    context.events.emit('queue.troubled', { queue: handler.job.queue, kind: 'error', error }),
  )
}
