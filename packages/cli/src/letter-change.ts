import type { Clock } from '@cronce/core'
import type { LetterPlan, LetterProgress } from '@cronce/operations'
import type { Context } from './context.ts'
import { readRate } from './option-values.ts'
import { ProgressLine } from './progress-line.ts'
import { letterCountText } from './text/letter-text.ts'

/** How a change of many goes on. */
export interface ShownChange {
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly intervalMs: number | undefined
  readonly onPlan: (plan: LetterPlan) => void
  readonly onProgress: (progress: LetterProgress) => void
}

/** A change of fewer is over before anybody looks. */
const SHOWN_FROM = 100

/** Where nobody looks, a line of progress at most so often, ms. */
const LINE_EVERY_MS = 1_000

/**
 * Changes dead letters, with its progress on standard error; the first Ctrl-C ends it between two scripts.
 *
 * @throws CronceError CRONCE_USAGE, and what the change throws
 */
export async function changeShown<T>(
  { clock, terminal }: Context,
  { rate, state }: { readonly rate: string | undefined; readonly state: string },
  change: (shown: ShownChange) => Promise<T>,
): Promise<T> {
  const intervalMs = rate === undefined ? undefined : readRate('--rate', rate)
  const stop = new AbortController()
  const line = new ProgressLine(terminal)
  const forget = terminal.onInterrupt?.(() => stop.abort())
  let shownAt = Number.NEGATIVE_INFINITY
  try {
    return await change({
      clock,
      intervalMs,
      signal: stop.signal,
      onPlan(plan) {
        if (isLong(plan.entities, intervalMs)) line.say([` ${letterCountText(plan)}`])
      },
      onProgress({ ended, total }) {
        const isDue = terminal.progress === 'redrawn' || ended === total || clock.now() >= shownAt + LINE_EVERY_MS
        if (!isDue || !isLong(total, intervalMs)) return
        shownAt = clock.now()
        line.show({ ended, total, slot: undefined, state })
      },
    })
  } finally {
    line.end()
    forget?.()
  }
}

function isLong(total: number, intervalMs: number | undefined): boolean {
  return total >= SHOWN_FROM || intervalMs !== undefined
}
