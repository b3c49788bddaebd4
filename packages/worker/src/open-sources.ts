import type { CancelTimer, Clock } from '@cronce/core'
import type { RunRef } from '@cronce/store'

/** The most iterables that a worker keeps open between the steps of their plans; beyond it, the oldest is let go. */
const MOST_OPEN = 16

/** ... and for how long, ms: whoever is behind one may hold a connection for it. */
const LONGEST_KEPT_MS = 5 * 60_000

/** An iterable in the middle. */
export interface OpenRows {
  readonly rows: Iterator<unknown> | AsyncIterator<unknown>
  /** Rows that are in the plan. */
  taken: number
  /** Read, and too large for the page before. */
  held: IteratorYieldResult<unknown> | undefined
}

/** How far a plan was when a step of it ended. */
export interface PlanPlace {
  readonly fence: number
  readonly cursor: string
}

interface Kept {
  readonly place: PlanPlace
  readonly open: OpenRows
  readonly cancelTimer: CancelTimer
}

/**
 * Iterables that wait for the next step of their plan, so that a long one is not read from its start again after every pause. Only a
 * saving: whether one fits is said by the plan, and what is not here is opened anew.
 */
export class OpenSources {
  readonly #clock: Clock
  readonly #kept = new Map<string, Kept>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  keep(run: RunRef, place: PlanPlace, open: OpenRows): void {
    this.#drop(keyOf(run))
    const [oldest] = this.#kept.keys()
    if (this.#kept.size >= MOST_OPEN && oldest !== undefined) this.#drop(oldest)
    const cancelTimer = this.#clock.after(LONGEST_KEPT_MS, () => this.#drop(keyOf(run)))
    this.#kept.set(keyOf(run), { place, open, cancelTimer })
  }

  /** The one of this run, if the plan is where that one is: at its cursor, and nobody has started a step since. */
  take(run: RunRef, place: PlanPlace): OpenRows | undefined {
    const kept = this.#kept.get(keyOf(run))
    if (kept === undefined) return undefined
    if (kept.place.cursor !== place.cursor || kept.place.fence + 1 !== place.fence) {
      this.#drop(keyOf(run))
      return undefined
    }
    this.#kept.delete(keyOf(run))
    kept.cancelTimer()
    return kept.open
  }

  closeAll(): void {
    for (const key of [...this.#kept.keys()]) this.#drop(key)
  }

  #drop(key: string): void {
    const kept = this.#kept.get(key)
    this.#kept.delete(key)
    kept?.cancelTimer()
    if (kept !== undefined) void endRows(kept.open.rows)
  }
}

/** Lets an iterable go. Its own failure to end is nobody's loss. */
export async function endRows(rows: OpenRows['rows']): Promise<void> {
  try {
    await rows.return?.()
  } catch {
    // It has ended one way or the other.
  }
}

function keyOf({ job, id }: RunRef): string {
  return `${job}\n${id}`
}
