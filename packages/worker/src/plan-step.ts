import { isCronceError, parseSlotId, retryDelay } from '@cronce/core'
import type { TaskOutcome } from '@cronce/queue'
import { failPlan, hintOpenWork, type PlanStart, startPlan, writePage, yieldPlan } from '@cronce/store'
import { PageReader, type PlanPart } from './page-reader.ts'
import { acknowledge, addTasks, FINISHED, followUp, runLetterId, showLetters, type TaskInHand } from './run-progress.ts'
import { describeThrown, keptError } from './thrown-value.ts'
import { callInTime } from './timed-call.ts'

/** At the next sweep, whatever the clocks say. */
const NEXT_SWEEP = 0

/** How often the slot of a paused job is looked at, ms. */
const PAUSED_LOOK_MS = 5_000

/** Handed back at once: another worker, or this one, goes on from what is written. */
const AT_ONCE: TaskOutcome = { kind: 'again', delayMs: 0 }

/**
 * W2: one step of a run's plan: reads pages, writes each as a chunk, and adds the chunk. Short: it stops when enough chunks wait,
 * or after its time, and whoever goes on goes on from the cursor.
 */
export async function runPlanStep(inHand: TaskInHand): Promise<TaskOutcome> {
  const { context, handler, run, slot } = inHand
  const { store, executor, events, timing } = context
  // A5: before the run is under way, so that no crash leaves it unseen.
  await hintOpenWork(store, [run.job], NEXT_SWEEP)
  const at = parseSlotId(run.id)?.at ?? 0
  const start = await startPlan(store, run, {
    ...executor,
    at,
    hasDone: handler.done !== undefined,
    mostOpenChunks: timing.openChunks,
  })
  if (start.status === 'paused') return waitForResume(inHand)
  if (start.status !== 'run' && start.status !== 'planned') return acknowledge(inHand, start.status)
  if (start.fence === 1) {
    events.emit('run.started', { slot, cause: start.cause, latenessMs: Math.max(0, start.now - start.effectiveAt) })
  }
  // W3: whoever died between writing a chunk and adding it left it here; the same id does nothing where it is on the queue.
  if (start.openChunks.length > 0)
    await addTasks(
      inHand,
      start.openChunks.map((number) => ({ kind: 'chunk', number })),
    )
  return start.status === 'planned' ? FINISHED : await writePlan(inHand, { start, at })
}

interface StepStart {
  readonly start: PlanStart
  readonly at: number
}

/** T10: a pause stops starts, never a run. */
function waitForResume({ context, slot, task }: TaskInHand): TaskOutcome {
  context.events.emit('task.handed-back', {
    slot,
    task: `plan ${task.number}`,
    reason: 'the job is paused',
    delayMs: PAUSED_LOOK_MS,
  })
  return { kind: 'again', delayMs: PAUSED_LOOK_MS }
}

/** How far one step has come. */
interface Step {
  readonly fence: number
  cursor: string
  /** Chunks of the plan so far, those of earlier steps included. */
  chunks: number
  /** Failed attempts at the page after the cursor. */
  failedBefore: number
}

async function writePlan(inHand: TaskInHand, { start, at }: StepStart): Promise<TaskOutcome> {
  const { clock, timing, shutdown } = inHand.context
  const reader = openReader(inHand, { start, at })
  const endsAt = clock.now() + timing.planStepMs
  const step: Step = { fence: start.fence, cursor: start.cursor, chunks: start.written, failedBefore: start.attempts }
  try {
    for (;;) {
      if (shutdown.phase !== 'open') return AT_ONCE
      let parts: readonly PlanPart[]
      try {
        parts = await reader.read(step.cursor)
      } catch (error) {
        if (isCronceError(error, 'CRONCE_SHUTDOWN')) return AT_ONCE
        return await failStep(inHand, step, error)
      }
      for (const part of parts) {
        const outcome = await writePart(inHand, step, part)
        if (outcome !== 'go on') return outcome
      }
      if (clock.now() >= endsAt) return await makeWay(inHand, step.fence)
    }
  } finally {
    await reader.close()
  }
}

async function writePart(inHand: TaskInHand, step: Step, part: PlanPart): Promise<TaskOutcome | 'go on'> {
  const { context, run, slot } = inHand
  const { fence } = step
  const written = await writePage(context.store, run, { ...part, fence, after: step.cursor })
  if (written.status === 'fenced') return acknowledge(inHand, 'fenced off')
  // Its answer was lost and the write was sent again: what is written is found by a new start.
  if (written.status === 'moved') return AT_ONCE
  step.cursor = part.next
  step.failedBefore = 0
  if (written.chunk !== undefined) step.chunks = written.chunk + 1
  if (written.chunk !== undefined) await addTasks(inHand, [{ kind: 'chunk', number: written.chunk }])
  if (part.last) {
    context.events.emit('run.planned', { slot, chunks: step.chunks })
    await followUp(inHand, { ended: written.ended, nextStep: 0 })
    return FINISHED
  }
  if (written.openChunks < context.timing.openChunks) return 'go on'
  const { status } = await yieldPlan(context.store, run, { fence, why: 'room' })
  if (status === 'fenced') return acknowledge(inHand, 'fenced off')
  return status === 'paused' ? FINISHED : 'go on'
}

async function makeWay(inHand: TaskInHand, fence: number): Promise<TaskOutcome> {
  const { status, step } = await yieldPlan(inHand.context.store, inHand.run, { fence, why: 'time' })
  if (status === 'fenced') return acknowledge(inHand, 'fenced off')
  await addTasks(inHand, [{ kind: 'plan', number: step }])
  return FINISHED
}

function openReader({ context, handler, run, slot }: TaskInHand, { start, at }: StepStart): PageReader {
  const { clock, shutdown } = context
  const inTime = <T>(call: (signal: AbortSignal) => T | Promise<T>): Promise<T> =>
    callInTime({ clock, shutdown, timeoutMs: handler.job.timeoutMs, name: 'the entity source', call })
  const request = {
    limit: handler.job.chunk.size,
    slot: { key: slot, job: run.job, at, effectiveAt: start.effectiveAt },
  }
  return new PageReader(handler, {
    inTime,
    call: (after) => inTime(async (signal) => (await handler.entities?.({ ...request, after, signal })) ?? []),
  })
}

async function failStep(inHand: TaskInHand, step: Step, error: unknown): Promise<TaskOutcome> {
  const { context, handler, run, slot } = inHand
  const { store, executor, events, clock, random } = context
  const { attempts: attemptsAllowed, backoff } = handler.job.retry
  const failed = await failPlan(store, run, {
    ...executor,
    fence: step.fence,
    attemptsAllowed,
    error: keptError(error, { number: step.failedBefore + 1, at: clock.now(), worker: executor.worker }),
    deadLetterId: runLetterId(inHand),
  })
  if (failed.status === 'fenced') return acknowledge(inHand, 'fenced off')
  const final = failed.status === 'failed'
  events.emit('plan.failed', { slot, error: describeThrown(error), attempt: failed.attempts, final })
  if (!final) return { kind: 'again', delayMs: retryDelay(backoff, failed.attempts, random) }
  await showLetters(inHand, [runLetterId(inHand)])
  await followUp(inHand, { ended: failed.ended, nextStep: 0 })
  return FINISHED
}
