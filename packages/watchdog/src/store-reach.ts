import type { Clock, EventEmitter, SlotKey } from '@cronce/core'
import type { LocalFacts } from './local-alarm.ts'

/** Slots that are kept in mind; an alarm names a few. */
const MOST_KEPT = 1_000

/** Follows, by the events of the trigger in this process, whether it reaches the store and what is due meanwhile (T13). */
export function watchReach(events: EventEmitter, clock: Clock): { facts(): LocalFacts; stop(): void } {
  let failingSinceAt: number | undefined
  const due = new Set<SlotKey>()
  const fail = () => {
    failingSinceAt ??= clock.now()
  }
  const reach = () => {
    failingSinceAt = undefined
    due.clear()
  }
  const ends = [
    events.on('store.lost-touch', fail),
    events.on('tick.failed', ({ dueSlots }) => {
      fail()
      for (const slot of dueSlots) if (due.size < MOST_KEPT) due.add(slot)
    }),
    events.on('store.reached', reach),
    events.on('tick.finished', reach),
  ]
  return {
    facts: () => ({ failingSinceAt, dueSlots: [...due] }),
    stop() {
      for (const end of ends) end()
    },
  }
}
