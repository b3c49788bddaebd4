import { setImmediate } from 'node:timers/promises'
import { formatSlotKey } from '@cronce/core'
import { dueSlots } from './due-slots.ts'
import { addClaimed, recordAdded } from './enqueue.ts'
import { type Claimed, type Fired, fireJob } from './fire.ts'
import { isRowFault, tellPassedOver } from './row-fault.ts'
import type { TriggerContext } from './trigger-context.ts'

/** What one pass over the due jobs came to. */
export interface TickResult {
  readonly due: number
  readonly claimed: number
  readonly lost: number
  /** Jobs to be tried again here, and when by Redis's time. */
  readonly again: ReadonlyMap<string, number>
}

/**
 * Jobs whose claims go out in one write and that are enqueued together: a thousand that are due at once do not wait for the last
 * one, and Redis claims one slice while the next is written.
 */
const SLICE = 100

/** How long a job rests whose try failed while others did not, ms. */
const FAILED_PAUSE_MS = 5_000

/** How long a job rests that a tick could not move on, ms. */
const STUCK_PAUSE_MS = 500

/** One tick over these jobs, oldest first. Throws where the store is out of reach; what was due stays due (T13). */
export async function tick(context: TriggerContext, names: readonly string[]): Promise<TickResult> {
  const again = new Map<string, number>()
  const startedAt = context.redisClock.now()
  let outcome: 'fired' | 'failed' = 'failed'
  try {
    const fired = await fireAll(context, names, again)
    outcome = 'fired'
    return {
      due: names.length,
      claimed: fired.reduce((sum, { claimed }) => sum + (claimed?.slots.length ?? 0), 0),
      lost: fired.reduce((sum, { lost }) => sum + lost, 0),
      again,
    }
  } finally {
    for (const name of names) {
      const job = context.jobs.get(name)
      if (job === undefined) continue
      // What was due and did not move is tried again when it said so, or after a while: never in a circle.
      const isStuck = outcome === 'fired' && job.nextAt <= startedAt
      const nextAt = isStuck ? (again.get(name) ?? startedAt + STUCK_PAUSE_MS) : job.nextAt
      context.due.set(name, Math.min(nextAt, again.get(name) ?? Number.POSITIVE_INFINITY))
    }
  }
}

async function fireAll(
  context: TriggerContext,
  names: readonly string[],
  again: Map<string, number>,
): Promise<Fired[]> {
  const ordered = names.toSorted((a, b) => (context.jobs.get(a)?.nextAt ?? 0) - (context.jobs.get(b)?.nextAt ?? 0))
  const slices: Promise<Slice>[] = []
  for (let start = 0; start < ordered.length; start += SLICE) {
    if (start > 0) await setImmediate()
    slices.push(fireSlice(context, ordered.slice(start, start + SLICE)))
  }
  const done = await Promise.all(slices)
  // Recorded when all are on the queue: nobody waits for the record, somebody may wait for the run.
  await recordAdded(
    context,
    done.flatMap(({ added }) => added),
  )
  const fired = done.flatMap((slice) => slice.fired)
  for (const { name, again: at } of fired) if (at !== undefined) again.set(name, at)
  const failures = done.flatMap((slice) => slice.failures)
  judgeFailures(context, { failures, fired, again })
  return fired
}

/** What became of some of the due jobs. */
interface Slice {
  readonly fired: readonly (Fired & { readonly name: string })[]
  readonly failures: readonly Failure[]
  /** On the queue, not yet recorded. */
  readonly added: readonly Claimed[]
}

/** Tries these jobs, and adds what was claimed of them, in their order. Rejects for nothing: the other slices are on their way. */
async function fireSlice(context: TriggerContext, names: readonly string[]): Promise<Slice> {
  const fired: (Fired & { readonly name: string })[] = []
  const failures: Failure[] = []
  const results = await Promise.allSettled(names.map((name) => fireJob(context, name)))
  for (const [index, result] of results.entries()) {
    const name = names[index] as string
    if (result.status === 'fulfilled') fired.push({ name, ...result.value })
    else failures.push({ name, error: result.reason })
  }
  const claims = fired.flatMap(({ claimed }) => claimed ?? [])
  return { fired, failures, added: await addClaimed(context, claims) }
}

/** Promise 10: one bad job stops no other, nor the pass. Where nothing could be fired, and no row is why, the store is out of reach. */
function judgeFailures(
  context: TriggerContext,
  { failures, fired, again }: { failures: readonly Failure[]; fired: readonly Fired[]; again: Map<string, number> },
): void {
  const outage = failures.find(({ error }) => !isRowFault(error))
  if (outage !== undefined && fired.length === 0) throw outage.error
  for (const { name, error } of failures) {
    tellPassedOver(context, name, error)
    again.set(name, context.redisClock.now() + FAILED_PAUSE_MS)
  }
}

interface Failure {
  readonly name: string
  readonly error: unknown
}

/** The slots that are due by what this replica knows without the store. */
export function dueHere(context: TriggerContext, names: readonly string[]) {
  return names.flatMap((name) => {
    const job = context.jobs.get(name)
    if (job === undefined) return []
    const now = context.redisClock.now()
    const { slots } = dueSlots({ ...job, schedule: job.settings.schedule, now })
    return slots.map(({ at }) => formatSlotKey({ job: name, at }))
  })
}
