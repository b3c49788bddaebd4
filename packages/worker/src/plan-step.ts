import { CronceError, isCronceError, parseSlotId, retryDelay } from '@cronce/core'
import type { TaskOutcome } from '@cronce/queue'
import { failPlan, hintOpenWork, type PlanStart, startPlan, yieldPlan } from '@cronce/store'
import { PageReader, type PlanPart } from './page-reader.ts'
import { PlanFlight } from './plan-flight.ts'
import {
  acknowledge,
  addTasks,
  FINISHED,
  followUp,
  planLetterId,
  showLetters,
  type TaskInHand,
} from './run-progress.ts'
import { describeThrown, keptError } from './thrown-value.ts'
import { callInTime } from './timed-call.ts'

/** At the next sweep, whatever the clocks say. */
const NEXT_SWEEP = 0

/** How often the slot of a paused job is looked at, ms. */
const PAUSED_LOOK_MS = 5_000

/** A page that took longer to read is written and added at once, ms. */
const SLOW_READ_MS = 5

/** It goes on in another step; an iterable may be kept open for it. */
const GOES_ON: TaskOutcome = { kind: 'finished' }

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
  if (start.status === 'crashing') return failCrashing(inHand, start.fence)
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
  if (start.status === 'planned') return FINISHED
  const flight = new PlanFlight(inHand, start)
  const outcome = await writePlan(inHand, flight, { start, at })
  await flight.settled()
  return outcome
}

interface StepStart {
  readonly start: PlanStart
  readonly at: number
}

/** W6: whoever reads this source dies of it. The run ends as failed, and its workers live. */
async function failCrashing(inHand: TaskInHand, fence: number): Promise<TaskOutcome> {
  const { context, run, slot } = inHand
  const thrown = new CronceError('CRONCE_PLAN_CRASHED', { slot })
  const { executor, store, clock, events } = context
  const failed = await failPlan(store, run, {
    ...executor,
    fence,
    attemptsAllowed: 0,
    error: keptError(thrown, { number: 0, at: clock.now(), worker: executor.worker }),
    deadLetterId: planLetterId(inHand),
  })
  if (failed.status === 'fenced') return acknowledge(inHand, 'fenced off')
  events.emit('plan.failed', { slot, error: describeThrown(thrown), attempt: failed.attempts, final: true })
  await showLetters(inHand, [planLetterId(inHand)])
  await followUp(inHand, { ended: failed.ended, nextStep: 0 })
  return FINISHED
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

async function writePlan(inHand: TaskInHand, flight: PlanFlight, { start, at }: StepStart): Promise<TaskOutcome> {
  const reader = openReader(inHand, { start, at })
  try {
    const outcome = await writePages(inHand, { reader, flight, start })
    const open = outcome === GOES_ON ? reader.release() : undefined
    const place = { fence: start.fence, cursor: flight.cursor }
    if (open !== undefined) inHand.context.sources.keep(inHand.run, place, open)
    return outcome
  } finally {
    await reader.close()
  }
}

interface PageWork {
  readonly reader: PageReader
  readonly flight: PlanFlight
  readonly start: PlanStart
}

async function writePages(inHand: TaskInHand, { reader, flight, start }: PageWork): Promise<TaskOutcome> {
  const { clock, timing, shutdown } = inHand.context
  const endsAt = clock.now() + timing.planStepMs
  let failedBefore = start.attempts
  for (;;) {
    const readAt = clock.now()
    if (shutdown.phase !== 'open') return (await land(inHand, flight)) ?? AT_ONCE
    let parts: readonly PlanPart[]
    try {
      parts = await reader.read(flight.cursor)
    } catch (error) {
      const stop = await land(inHand, flight)
      if (stop !== undefined) return stop
      if (isCronceError(error, 'CRONCE_SHUTDOWN')) return AT_ONCE
      return await failStep(inHand, { fence: start.fence, failedBefore, error })
    }
    failedBefore = 0
    // What took long to read does not wait for company.
    const isSlow = clock.now() - readAt > SLOW_READ_MS
    for (const part of parts) {
      flight.send(part)
      const stop = part.last || isSlow || flight.isFull ? await land(inHand, flight, part) : undefined
      if (stop !== undefined) return stop
    }
    if (clock.now() >= endsAt) return (await land(inHand, flight)) ?? (await makeWay(inHand, start.fence))
  }
}

/** Lands the pages on their way. Answers how the step ends, where it does. */
async function land(inHand: TaskInHand, flight: PlanFlight, part?: PlanPart): Promise<TaskOutcome | undefined> {
  const { context, run, slot } = inHand
  const { status, written } = await flight.land()
  if (status === 'fenced') return acknowledge(inHand, 'fenced off')
  // Its answer was lost and the write was sent again: what is written is found by a new start.
  if (status === 'moved') return AT_ONCE
  if (part?.last === true) {
    context.events.emit('run.planned', { slot, chunks: flight.chunks })
    await followUp(inHand, { ended: written?.ended, nextStep: 0 })
    return FINISHED
  }
  if (written === undefined || written.openChunks < context.timing.openChunks) return undefined
  const paused = await yieldPlan(context.store, run, { fence: flight.fence, why: 'room' })
  if (paused.status === 'fenced') return acknowledge(inHand, 'fenced off')
  return paused.status === 'paused' ? GOES_ON : undefined
}

async function makeWay(inHand: TaskInHand, fence: number): Promise<TaskOutcome> {
  const { status, step } = await yieldPlan(inHand.context.store, inHand.run, { fence, why: 'time' })
  if (status === 'fenced') return acknowledge(inHand, 'fenced off')
  await addTasks(inHand, [{ kind: 'plan', number: step }])
  return GOES_ON
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
    open: context.sources.take(run, start),
    call: (after) => inTime(async (signal) => (await handler.entities?.({ ...request, after, signal })) ?? []),
  })
}

async function failStep(
  inHand: TaskInHand,
  { fence, failedBefore, error }: { fence: number; failedBefore: number; error: unknown },
): Promise<TaskOutcome> {
  const { context, handler, run, slot } = inHand
  const { store, executor, events, clock, random } = context
  const { attempts: attemptsAllowed, backoff } = handler.job.retry
  const failed = await failPlan(store, run, {
    ...executor,
    fence,
    attemptsAllowed,
    error: keptError(error, { number: failedBefore + 1, at: clock.now(), worker: executor.worker }),
    deadLetterId: planLetterId(inHand),
  })
  if (failed.status === 'fenced') return acknowledge(inHand, 'fenced off')
  const final = failed.status === 'failed'
  events.emit('plan.failed', { slot, error: describeThrown(error), attempt: failed.attempts, final })
  if (!final) return { kind: 'again', delayMs: retryDelay(backoff, failed.attempts, random) }
  await showLetters(inHand, [planLetterId(inHand)])
  await followUp(inHand, { ended: failed.ended, nextStep: 0 })
  return FINISHED
}
