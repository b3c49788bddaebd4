import type { Clock } from '@cronce/core'
import type { Command } from 'ioredis'

/** Stands for Redis's time in a script's arguments until the command reaches Redis: a process that was stopped brings no old time along. */
export const TIME_OF_ARRIVAL = -77_777_777

/** Where the time is among the arguments of a script: after its text, the number of keys, and the key. */
const TIME_INDEX = 3

/** Gives a script that is about to reach Redis the time. */
export function patchTime(command: Command, now: number): void {
  if (String(command.args[TIME_INDEX]) === String(TIME_OF_ARRIVAL)) command.args[TIME_INDEX] = String(now)
}

/** The time of a simulation: stands still until something is to happen. */
export interface VirtualTime {
  readonly now: number
  /** Calls `act` at an instant. */
  at(instant: number, act: () => void): () => void
  /** When the next thing happens; Infinity where nothing does. */
  readonly nextAt: number
  /** Moves to an instant at most, and lets happen what is due. */
  advanceTo(instant: number): void
  /** Lets a little time pass in the middle of something; nothing happens before the next advance. */
  drift(byMs: number): void
}

export function createVirtualTime(startAt: number): VirtualTime {
  let now = startAt
  let order = 0
  const heap: Entry[] = []
  const dropCancelled = () => {
    while (heap[0]?.act === undefined && heap.length > 0) pop(heap)
  }
  return {
    get now() {
      return now
    },
    get nextAt() {
      dropCancelled()
      return heap[0]?.at ?? Number.POSITIVE_INFINITY
    },
    at(instant, act) {
      // Timers count whole milliseconds.
      const entry: Entry = { at: Math.round(instant), order: order++, act }
      push(heap, entry)
      return () => {
        entry.act = undefined
      }
    },
    advanceTo(instant) {
      now = Math.max(now, instant)
      for (dropCancelled(); (heap[0]?.at ?? Number.POSITIVE_INFINITY) <= now; dropCancelled()) pop(heap)?.act?.()
    },
    drift(byMs) {
      now += byMs
    },
  }
}

/** The clock of one process: it is wrong by some milliseconds, and stands while the process is stopped. */
export interface SkewedClock extends Clock {
  skewMs: number
  stop(): void
  goOn(): void
  /** Fires nothing any more. */
  end(): void
}

export function createSkewedClock(time: VirtualTime, skewMs: number): SkewedClock {
  let state: 'going' | 'stopped' | 'ended' = 'going'
  let overdue: (() => void)[] = []
  return {
    skewMs,
    now() {
      return Math.round(time.now + this.skewMs)
    },
    after(delayMs, fire) {
      // A Node timer takes at least a millisecond.
      return time.at(time.now + Math.max(1, delayMs), () => {
        if (state === 'going') fire()
        else if (state === 'stopped') overdue.push(fire)
      })
    },
    stop() {
      if (state === 'going') state = 'stopped'
    },
    goOn() {
      if (state !== 'stopped') return
      state = 'going'
      const waiting = overdue
      overdue = []
      for (const fire of waiting) fire()
    },
    end() {
      state = 'ended'
      overdue = []
    },
  }
}

interface Entry {
  readonly at: number
  readonly order: number
  act: (() => void) | undefined
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order)
}

function push(heap: Entry[], entry: Entry): void {
  let index = heap.length
  heap.push(entry)
  while (index > 0) {
    const parent = (index - 1) >> 1
    const above = heap[parent]
    if (above === undefined || !isBefore(entry, above)) break
    heap[index] = above
    index = parent
  }
  heap[index] = entry
}

function pop(heap: Entry[]): Entry | undefined {
  const first = heap[0]
  const last = heap.pop()
  if (first === undefined || last === undefined || heap.length === 0) return first
  let index = 0
  for (;;) {
    let child = index * 2 + 1
    const right = heap[child + 1]
    let below = heap[child]
    if (below === undefined) break
    if (right !== undefined && isBefore(right, below)) {
      child += 1
      below = right
    }
    if (!isBefore(below, last)) break
    heap[index] = below
    index = child
  }
  heap[index] = last
  return first
}
