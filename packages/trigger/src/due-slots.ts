import { formatSlotId, lastSlot, nextSlot, periodMs, type Schedule, slotsBetween } from '@cronce/core'
import type { DueSlot } from '@cronce/store'
import { MOST_SLOTS, type TriggerTiming } from './trigger-timing.ts'

/** What the due list of a job is made from. Instants in epoch ms. */
export interface DueRequest {
  readonly schedule: Schedule
  /** Everything up to here is recorded. */
  readonly watermarkAt: number
  /** The generation's start. */
  readonly sinceAt: number
  readonly spreadMs: number
  /** T8: nothing is owed after a removal. */
  readonly goneAt?: number | undefined
  /** Redis's now. */
  readonly now: number
}

/** How many of the newest slots are asked for beside the oldest, so that a slot on time never waits behind a backlog. */
const NEWEST = 5

/** The slots of one try. */
export interface DueList {
  /** Ordered. */
  readonly slots: readonly DueSlot[]
  /** How many of them, from the first, are all there are: the watermark may move along these, and no further. */
  readonly complete: number
}

/**
 * A2: the slots in (watermark, now] of a definition, by effective instant: the oldest, complete from the watermark on, and the
 * newest few where there are more than one script takes.
 */
export function dueSlots({ schedule, watermarkAt, sinceAt, spreadMs, goneAt, now }: DueRequest): DueList {
  const from = Math.max(watermarkAt, sinceAt)
  const until = Math.min(now - spreadMs, goneAt ?? Number.POSITIVE_INFINITY)
  const slots: DueSlot[] = []
  for (const at of slotsBetween(schedule, from, until)) {
    slots.push(dueSlot(at, spreadMs))
    if (slots.length === MOST_SLOTS - NEWEST) break
  }
  const complete = slots.length
  if (complete < MOST_SLOTS - NEWEST) return { slots, complete }
  const newest: DueSlot[] = []
  const oldestListed = slots.at(-1)?.at ?? now
  for (let at = lastSlot(schedule, until); at !== undefined && at > oldestListed && newest.length < NEWEST; ) {
    newest.unshift(dueSlot(at, spreadMs))
    at = lastSlot(schedule, at - 1)
  }
  return { slots: [...slots, ...newest], complete }
}

/** One slot with its effective instant. */
export function dueSlot(at: number, spreadMs: number): DueSlot {
  return { id: formatSlotId(at), at, effectiveAt: at + spreadMs }
}

/** When the first slot after an instant takes effect; undefined where there is none. */
export function nextEffectiveAt(schedule: Schedule, afterAt: number, spreadMs: number): number | undefined {
  const at = nextSlot(schedule, afterAt)
  return at === undefined ? undefined : at + spreadMs
}

/** T5: how long an unclaimed slot is left to those who may be about to claim it: a lease and a sweep, at most one period. */
export function graceMs(schedule: Schedule, timing: TriggerTiming, now: number): number {
  return Math.min(timing.claimLeaseMs + timing.sweepMs, periodMs(schedule, now))
}
