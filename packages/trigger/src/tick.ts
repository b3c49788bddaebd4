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

/** Jobs whose claims are made together, then enqueued together: a thousand that are due at once do not wait for the last one. */
const SLICE = 250

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
  const fired: Fired[] = []
  const claims: Claimed[] = []
  const failures: Failure[] = []
  const adding: Promise<readonly Claimed[]>[] = []
  for (let start = 0; start < ordered.length; start += SLICE) {
    const slice = ordered.slice(start, start + SLICE)
    const results = await Promise.allSettled(slice.map((name) => fireJob(context, name)))
    for (const [index, result] of results.entries()) {
      const name = slice[index]
      if (name === undefined) continue
      if (result.status === 'rejected') {
        failures.push({ name, error: result.reason })
        continue
      }
      const { again: at, claimed } = result.value
      if (at !== undefined) again.set(name, at)
      if (claimed !== undefined) claims.push(claimed)
      fired.push(result.value)
    }
    adding.push(addClaimed(context, claims.splice(0)))
  }
  // Recorded when all are on the queue: nobody waits for the record, somebody may wait for the run.
  await recordAdded(context, (await Promise.all(adding)).flat())
  judgeFailures(context, { failures, fired, again })
  return fired
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
