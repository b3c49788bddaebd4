import type { CronceEvents, EventName } from './event-map.ts'

type Listener<Name extends EventName> = (facts: CronceEvents[Name]) => void
type AnyListener = <Name extends EventName>(name: Name, facts: CronceEvents[Name]) => void

/** Where events come out. */
export interface EventSource {
  /** Calls `listener` at every event of this name; returns what stops it. */
  on<Name extends EventName>(name: Name, listener: Listener<Name>): () => void
  /** Calls `listener` at every event; returns what stops it. */
  onAny(listener: AnyListener): () => void
}

/** Where events go in. */
export interface EventEmitter extends EventSource {
  emit<Name extends EventName>(name: Name, facts: CronceEvents[Name]): void
}

/** Makes an emitter. A listener that throws does not disturb the emitter's work: its error is thrown outside of it. */
export function createEmitter(): EventEmitter {
  const listeners = new Map<EventName, Set<Listener<never>>>()
  const anyListeners = new Set<AnyListener>()
  return {
    on(name, listener) {
      const set = listeners.get(name) ?? new Set()
      listeners.set(name, set.add(listener))
      return () => set.delete(listener)
    },
    onAny(listener) {
      anyListeners.add(listener)
      return () => anyListeners.delete(listener)
    },
    emit(name, facts) {
      for (const listener of listeners.get(name) ?? []) call(() => (listener as Listener<typeof name>)(facts))
      for (const listener of anyListeners) call(() => listener(name, facts))
    },
  }
}

function call(listener: () => void): void {
  try {
    listener()
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}
