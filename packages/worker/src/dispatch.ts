import { slotKeyOf } from '@cronce/core'
import { type Task, type TaskOutcome, taskId } from '@cronce/queue'
import { type ChunksInHand, runChunk } from './chunk-step.ts'
import { runDone } from './done-step.ts'
import type { Handler } from './handler.ts'
import { runPlanStep } from './plan-step.ts'
import { takeInHand } from './run-progress.ts'
import { giveUpUnserved } from './unserved.ts'
import type { WorkerContext } from './worker-context.ts'

/** W1: a task that this worker lacks the code for is handed back for this long at first, ms, then doubled each time. */
export const FIRST_HAND_BACK_MS = 1_000

/** ... and never for longer than this, ms. */
export const LONGEST_HAND_BACK_MS = 5_000

/** How many foreign tasks are remembered; beyond it, the oldest start again from the first delay. */
const MOST_REMEMBERED = 1_000

/** Gives each task to the step that it names. */
export class Dispatcher {
  readonly #context: WorkerContext
  readonly #chunks: ChunksInHand = new Map()
  readonly #handedBack = new Map<string, number>()
  #active = 0

  constructor(context: WorkerContext) {
    this.#context = context
  }

  /** Tasks in hand. */
  get active(): number {
    return this.#active
  }

  async process(task: Task, queue: string): Promise<TaskOutcome> {
    this.#active += 1
    try {
      return await this.#step(task, queue)
    } finally {
      this.#active -= 1
    }
  }

  /** A lock was lost: the chunk asks the store whether it is still ours. */
  recheck(id: string): void {
    this.#chunks.get(id)?.recheck()
  }

  async #step(task: Task, queue: string): Promise<TaskOutcome> {
    // Fetched while the worker was told to stop: another takes it.
    if (this.#context.shutdown.phase !== 'open') return { kind: 'again', delayMs: 0 }
    const handler = this.#context.handlers.get(task.job)
    if (handler === undefined) return await this.#handBack(task, 'no handler for this job here')
    if (task.version !== handler.job.version)
      return await this.#handBack(task, `its version is ${task.version}, ours ${handler.job.version}`)
    this.#handedBack.delete(taskId(task))
    return await this.#run(handler, { task, queue })
  }

  #run(handler: Handler, taken: { task: Task; queue: string }): Promise<TaskOutcome> {
    const inHand = takeInHand(this.#context, handler, taken)
    switch (taken.task.kind) {
      case 'plan':
        return runPlanStep(inHand)
      case 'chunk':
        return runChunk(inHand, this.#chunks)
      case 'done':
        return runDone(inHand)
    }
  }

  async #handBack(task: Task, reason: string): Promise<TaskOutcome> {
    const givenUp = await giveUpUnserved(this.#context, task)
    if (givenUp !== undefined) return givenUp
    const id = taskId(task)
    const times = this.#handedBack.get(id) ?? 0
    const delayMs = Math.min(LONGEST_HAND_BACK_MS, FIRST_HAND_BACK_MS * 2 ** Math.min(times, 30))
    this.#handedBack.delete(id)
    this.#handedBack.set(id, times + 1)
    const [oldest] = this.#handedBack.keys()
    if (this.#handedBack.size > MOST_REMEMBERED && oldest !== undefined) this.#handedBack.delete(oldest)
    this.#context.events.emit('task.handed-back', {
      slot: slotKeyOf(task),
      task: `${task.kind} ${task.number}`,
      reason,
      delayMs,
    })
    return { kind: 'again', delayMs }
  }
}
