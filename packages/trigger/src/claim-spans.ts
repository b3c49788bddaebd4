import type { SlotKey } from '@cronce/core'
import { type ClaimSpan, startClaim } from '@cronce/queue'
import type { Claimed, ClaimedSlot } from './fire.ts'
import type { TriggerContext } from './trigger-context.ts'

/**
 * The spans of what is being put on the queue: one trace per slot, however many are added in one go. A tracer that throws costs its
 * trace, not the slot.
 */
export class ClaimSpans {
  readonly #spans = new Map<SlotKey, ClaimSpan>()

  constructor({ telemetry, replica }: TriggerContext, group: readonly Claimed[]) {
    if (telemetry === undefined) return
    for (const { job, slots, latenessMs, askedAt } of group) {
      const queue = job.settings.enqueue?.queue ?? job.settings.queue
      const facts = { job: job.name, queue, replica, latenessMs, startedAt: askedAt }
      for (const { key } of slots) {
        quietly(() => this.#spans.set(key, startClaim(telemetry, { slot: key, ...facts })))
      }
    }
  }

  /** What the task of a slot carries of its trace; nothing where nothing is traced. */
  traceOf(slot: SlotKey): { readonly trace?: string } {
    const span = this.#spans.get(slot)
    return span === undefined ? {} : { trace: span.trace }
  }

  get isEmpty(): boolean {
    return this.#spans.size === 0
  }

  /** The slots with the ids of their traces. */
  named(slots: readonly ClaimedSlot[]): ClaimedSlot[] {
    return slots.map((slot) => ({ ...slot, traceId: this.#spans.get(slot.key)?.traceId }))
  }

  end(error?: unknown): void {
    for (const span of this.#spans.values()) quietly(() => span.end(error))
  }
}

function quietly(act: () => unknown): void {
  try {
    act()
  } catch {
    // What happened to the slot is told by events all the same.
  }
}
