import { parseSlotId, type SlotId, slotKeyOf } from '@cronce/core'

/**
 * One job on the queue. It carries references only: what there is to do, and whether, the store says.
 *
 * - `plan`: a step of a run's plan; step 0 is the slot's own job, its id is the slot key.
 * - `chunk`: one page of entities.
 * - `done`: the run's `done` handler, for one outcome.
 */
export interface Task {
  readonly kind: 'plan' | 'chunk' | 'done'
  readonly job: string
  readonly id: SlotId
  /** Step of the plan, number of the chunk, or version of the outcome. */
  readonly number: number
  /** The payload version of the definition it was made under; a worker that lacks it hands the task back. */
  readonly version: number
  /** The trace that it continues, as its producer's telemetry wrote it; not part of what it is. */
  readonly trace?: string
}

/** The id of a task on the queue: the same task has the same id, so that adding it again does nothing while it is there. */
export function taskId(task: Task): string {
  const slot = slotKeyOf(task)
  if (task.kind === 'plan') return task.number === 0 ? slot : `${slot}/plan-${task.number}`
  return `${slot}/${task.kind}-${task.number}`
}

/** Reads a task off the queue; undefined for what is none of ours. */
export function readTask(name: string, data: unknown): Task | undefined {
  if (name !== 'plan' && name !== 'chunk' && name !== 'done') return undefined
  if (typeof data !== 'object' || data === null) return undefined
  const { job, id, number, version } = data as Record<string, unknown>
  if (typeof job !== 'string' || typeof id !== 'string' || parseSlotId(id) === undefined) return undefined
  if (typeof number !== 'number' || typeof version !== 'number') return undefined
  return { kind: name, job, id: id as SlotId, number, version }
}
