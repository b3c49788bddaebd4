import { provesNothingAdded, type Task } from '@cronce/queue'
import { recordSlots, releaseSlot } from '@cronce/store'
import { ClaimSpans } from './claim-spans.ts'
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
  const spans = new ClaimSpans(context, group)
  try {
    await place(context, group, spans)
  } catch (error) {
    spans.end(error)
    await Promise.all(group.map((claimed) => giveUp(context, claimed, error)))
    return []
  }
  spans.end()
  tellAdded(context, group)
  return spans.isEmpty ? group : group.map((claimed) => ({ ...claimed, slots: spans.named(claimed.slots) }))
}

/** T3: what is on the queue is recorded. */
export async function recordAdded(context: TriggerContext, added: readonly Claimed[]): Promise<void> {
  await Promise.all(
    added.map((claimed) => record(context, claimed).catch((error: unknown) => tellUnsure(context, claimed, error))),
  )
}

async function place(context: TriggerContext, group: readonly Claimed[], spans: ClaimSpans): Promise<void> {
  const [first] = group
  if (first === undefined) return
  const { enqueue, queue } = first.job.settings
  if (enqueue === undefined) {
    await context.enqueuer.add(
      queue,
      group.flatMap((claimed) => tasksOf(claimed, spans)),
    )
    return
  }
  const jobs = group.flatMap(({ slots }) => slots.map(({ key, at }) => ({ slot: key, at, ...spans.traceOf(key) })))
  await context.enqueuer.addForeign(enqueue, jobs)
}

function tasksOf({ job, slots }: Claimed, spans: ClaimSpans): Task[] {
  const { version } = job.settings
  return slots.map(({ id, key }) => ({
    ...{ kind: 'plan', job: job.name, id, number: 0, version },
    ...spans.traceOf(key),
  }))
}

function tellAdded(context: TriggerContext, group: readonly Claimed[]): void {
  for (const { job, slots } of group)
    for (const { key } of slots) context.events.emit('slot.added', { slot: key, queue: queueOf(job) })
}

/** It is on the queue; the ledger hears of it from the worker that starts it, or when its lease has ended. */
function tellUnsure(context: TriggerContext, { slots }: Claimed, error: unknown): void {
  for (const { key } of slots) context.events.emit('slot.unsure', { slot: key, error })
}

async function record(context: TriggerContext, { job, slots, list, latenessMs }: Claimed): Promise<void> {
  const foreign = job.settings.enqueue !== undefined
  const { queue, version } = job.settings
  const request = {
    job: job.name,
    added: slots,
    replica: context.replica,
    markerMs: MARKER_MS,
    foreign,
    queue,
    version,
    slots: list,
  }
  job.watermarkAt = await recordSlots(context.store, request)
  for (const { key } of slots) context.events.emit('slot.enqueued', { slot: key, queue: queueOf(job), latenessMs })
}

function queueOf({ settings }: Claimed['job']): string {
  return settings.enqueue?.queue ?? settings.queue
}

/** T2: a claim is given back only where the error proves that nothing was added; else its lease ends by itself. */
async function giveUp(context: TriggerContext, { job, token, slots }: Claimed, error: unknown): Promise<void> {
  const reason = error instanceof Error ? error.message.slice(0, 200) : 'the add failed'
  for (const { id, key } of slots) {
    if (!provesNothingAdded(error)) {
      context.events.emit('slot.unsure', { slot: key, error })
      continue
    }
    // Where even that fails, the lease ends by itself.
    const released = await releaseSlot(context.store, job.name, { id, token, reason }).catch(() => 'lost')
    context.events.emit(released === 'released' ? 'slot.released' : 'slot.unsure', { slot: key, error })
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
