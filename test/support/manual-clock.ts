import type { Clock } from '@cronce/core'

/** A clock that stands still until it is told to move; timers that come due on the way fire in order. */
export interface ManualClock extends Clock {
  /** Moves to an instant, forward or back. */
  set(at: number): void
  advance(byMs: number): void
  /** How many timers are armed: none may be left when what armed them has stopped. */
  readonly armed: number
}

export function manualClock(startAt: number): ManualClock {
  let now = startAt
  const timers = new Set<{ at: number; fire: () => void }>()
  const set = (at: number) => {
    now = at
    for (const timer of [...timers].toSorted((a, b) => a.at - b.at)) {
      if (timer.at > now || !timers.delete(timer)) continue
      timer.fire()
    }
  }
  return {
    now: () => now,
    after(delayMs, fire) {
      const timer = { at: now + delayMs, fire }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    set,
    advance: (byMs) => set(now + byMs),
    get armed() {
      return timers.size
    },
  }
}
