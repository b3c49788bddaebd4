import { formatDuration } from '../duration.ts'
import type { Fault } from '../errors/cronce-error.ts'
import { DEFAULT_CLAIM_LEASE_MS } from '../trigger-defaults.ts'
import { DEFAULT_TIMEOUT_MS, longestStartToleranceMs } from './job-defaults.ts'
import type { JobSettings } from './job-definition.ts'
import { longestPeriodMs } from './longest-period.ts'

/** A rule between several fields of a definition. */
interface Relation {
  /** The values it reads, by path. Where one of them is faulty already, the rule says nothing. */
  readonly reads: readonly string[]
  /** Where its fault is shown: in what authors write, and in what is stored. */
  readonly path: string
  readonly storedPath?: string
  readonly fault: (settings: JobSettings) => string | undefined
}

/**
 * What must hold between fields. Not here, on purpose: `timeout` against the queue's lock and the claim's lease (they are
 * renewed, or over, while an attempt runs) and `finish` or `timeout` against the period (a run may outlast it; `overlap`
 * says what follows).
 */
const RELATIONS: readonly Relation[] = [
  {
    reads: ['catchUp.within'],
    path: 'catchUp.within',
    storedPath: 'catchUp.withinMs',
    // A slot whose claimer died is free again after the lease: a shorter window would give up what is about to be retaken.
    fault: ({ catchUp }) =>
      catchUp.withinMs > DEFAULT_CLAIM_LEASE_MS
        ? undefined
        : `expected longer than the claim lease (${formatDuration(DEFAULT_CLAIM_LEASE_MS)}), got ${formatDuration(catchUp.withinMs)}`,
  },
  {
    reads: ['schedule', 'tolerance.start'],
    path: 'tolerance.start',
    storedPath: 'tolerance.startMs',
    // Longer, and the alarm about a slot comes after the next slot.
    fault({ schedule, tolerance }) {
      const longestMs = longestStartToleranceMs(longestPeriodMs(schedule, tolerance.startMs))
      if (tolerance.startMs <= longestMs) return undefined
      return `expected at most the period of the schedule, ${formatDuration(longestMs)} here, got ${formatDuration(tolerance.startMs)}`
    },
  },
  {
    reads: ['tolerance.start', 'tolerance.finish'],
    path: 'tolerance.finish',
    storedPath: 'tolerance.finishMs',
    fault: ({ tolerance: { startMs, finishMs } }) =>
      finishMs > startMs
        ? undefined
        : `expected longer than tolerance.start (${formatDuration(startMs)}), got ${formatDuration(finishMs)}: both count from the slot`,
  },
  {
    reads: ['tolerance.finish', 'timeout'],
    path: 'timeout',
    storedPath: 'timeoutMs',
    // The default is not the author's word, so it contradicts nothing.
    fault: ({ tolerance: { finishMs }, timeoutMs }) =>
      timeoutMs <= finishMs || timeoutMs === DEFAULT_TIMEOUT_MS
        ? undefined
        : `expected at most tolerance.finish (${formatDuration(finishMs)}), got ${formatDuration(timeoutMs)}: one attempt may not outlast the whole run`,
  },
  {
    reads: ['tolerance.start', 'expire'],
    path: 'expire',
    storedPath: 'expireMs',
    fault: ({ tolerance: { startMs }, expireMs }) =>
      expireMs === undefined || expireMs > startMs
        ? undefined
        : `expected longer than tolerance.start (${formatDuration(startMs)}), got ${formatDuration(expireMs)}: it would be dropped before it is overdue`,
  },
  {
    reads: ['retry.backoff.delay', 'retry.backoff.cap'],
    path: 'retry.backoff.cap',
    storedPath: 'retry.backoff.capMs',
    fault: ({ retry: { backoff } }) =>
      backoff.capMs >= backoff.delayMs
        ? undefined
        : `expected at least retry.backoff.delay (${formatDuration(backoff.delayMs)}), got ${formatDuration(backoff.capMs)}`,
  },
  {
    reads: ['limit'],
    path: 'limit',
    fault: ({ limit }) =>
      limit === undefined || limit.concurrency !== undefined || limit.rate !== undefined
        ? undefined
        : 'expected concurrency, rate or both, got neither',
  },
  {
    reads: ['enqueue', 'overlap'],
    path: 'overlap',
    fault: ({ enqueue, overlap }) =>
      enqueue === undefined || overlap === 'allow'
        ? undefined
        : `expected "allow" with enqueue, whose runs end unseen in another worker, got "${overlap}"`,
  },
  {
    reads: ['name', 'was'],
    path: 'was',
    fault: ({ name, was }) => (was === name ? `expected the name it had before, got its own, "${name}"` : undefined),
  },
]

/**
 * The faults between fields that are sound by themselves.
 *
 * @param found what is wrong already; a rule that reads any of it is left out.
 */
export function relationFaults(
  settings: JobSettings,
  found: readonly Fault[],
  form: 'written' | 'stored',
): readonly Fault[] {
  return RELATIONS.flatMap(({ reads, path, storedPath, fault }) => {
    if (reads.some((read) => found.some((faulty) => touches(faulty.path, read)))) return []
    const message = fault(settings)
    return message === undefined ? [] : [{ path: form === 'stored' ? (storedPath ?? path) : path, message }]
  })
}

/** Whether a fault at one path makes the value at another unknown: it is that value, a part of it, or what holds it. */
function touches(faulty: string, read: string): boolean {
  return faulty === read || faulty.startsWith(`${read}.`) || read.startsWith(`${faulty}.`)
}
