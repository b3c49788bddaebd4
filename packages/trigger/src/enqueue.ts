import { formatSlotKey, parseSlotId, type SlotId } from '@cronce/core'
import { provesNothingAdded, type Task } from '@cronce/queue'
import { recordSlots, releaseSlot } from '@cronce/store'
import type { Claimed } from './fire.ts'
import type { TriggerContext } from './trigger-context.ts'
import { MARKER_MS } from './trigger-timing.ts'

/**
 * T2: puts what was claimed on the queue. Answers what is there for certain; the rest was given back, or its lease ends. Then,
 * and not before, it is recorded ({@link recordAdded}, T3): a crash between the two leaves a lease that ends and a task that may
 * already run, which the start script knows by its claim. The other order would lose the slot.
 */
export async function addClaimed(context: TriggerContext, claims: readonly Claimed[]): Promise<readonly Claimed[]> {
  const groups = Array.from(byDestination(claims).values(), (group) => addGroup(context, group))
  return (await Promise.all(groups)).flat()
}

async function addGroup(context: TriggerContext, group: readonly Claimed[]): Promise<readonly Claimed[]> {
  const [first] = group
  if (first === undefined) return []
  try {
    await place(context, first, group)
  } catch (error) {
    await Promise.all(group.map((claimed) => giveUp(context, claimed, error)))
    return []
  }
  tellAdded(context, group)
  return group
}

/** T3: what is on the queue is recorded. */
export async function recordAdded(context: TriggerContext, added: readonly Claimed[]): Promise<void> {
  await Promise.all(added.map((claimed) => record(context, claimed)))
}

function place(context: TriggerContext, { job }: Claimed, group: readonly Claimed[]): Promise<void> {
  const { enqueue } = job.settings
  if (enqueue === undefined) return context.enqueuer.add(job.settings.queue, group.flatMap(tasksOf))
  const jobs = group.flatMap(({ job: { name }, ids }) =>
    ids.map((id) => ({ slot: slotKey(name, id), at: parseSlotId(id)?.at ?? 0 })),
  )
  return context.enqueuer.addForeign(enqueue, jobs)
}

function tasksOf({ job, ids }: Claimed): Task[] {
  return ids.map((id) => ({ kind: 'plan', job: job.name, id, number: 0, version: job.settings.version }))
}

function tellAdded(context: TriggerContext, group: readonly Claimed[]): void {
  for (const { job, ids } of group)
    for (const id of ids) context.events.emit('slot.added', { slot: slotKey(job.name, id), queue: queueOf(job) })
}

async function record(context: TriggerContext, { job, ids, list, latenessMs }: Claimed): Promise<void> {
  const foreign = job.settings.enqueue !== undefined
  const request = { job: job.name, ids, replica: context.replica, markerMs: MARKER_MS, foreign, slots: list }
  job.watermarkAt = await recordSlots(context.store, request)
  const queue = queueOf(job)
  for (const id of ids) context.events.emit('slot.enqueued', { slot: slotKey(job.name, id), queue, latenessMs })
}

function queueOf({ settings }: Claimed['job']): string {
  return settings.enqueue?.queue ?? settings.queue
}

/** T2: a claim is given back only where the error proves that nothing was added; else its lease ends by itself. */
async function giveUp(context: TriggerContext, { job, token, ids }: Claimed, error: unknown): Promise<void> {
  const reason = error instanceof Error ? error.message.slice(0, 200) : 'the add failed'
  for (const id of ids) {
    const slot = slotKey(job.name, id)
    if (!provesNothingAdded(error)) {
      context.events.emit('slot.unsure', { slot, error })
      continue
    }
    await releaseSlot(context.store, job.name, { id, token, reason })
    context.events.emit('slot.released', { slot, error })
  }
}

/** Jobs that go to one queue are added together. */
function byDestination(claims: readonly Claimed[]): Map<string, Claimed[]> {
  const groups = new Map<string, Claimed[]>()
  for (const claimed of claims) {
    const { enqueue, queue } = claimed.job.settings
    const destination = enqueue === undefined ? queue : `${enqueue.prefix}:${enqueue.queue}:${enqueue.name}`
    const group = groups.get(destination) ?? []
    groups.set(destination, group)
    group.push(claimed)
  }
  return groups
}

function slotKey(job: string, id: SlotId) {
  return formatSlotKey({ job, ...(parseSlotId(id) ?? { at: 0 }) })
}
