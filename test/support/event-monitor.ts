import { waitUntil } from './wait-until.ts'

/** What an `EventEmitter` of any typing offers. */
export interface EventSource {
  on(name: string, listener: (...args: unknown[]) => void): unknown
  off(name: string, listener: (...args: unknown[]) => void): unknown
}

export interface EventWait<E> {
  /** Only an event for which this holds; those before it are passed over. */
  readonly where?: (event: E) => boolean
  readonly timeoutMs?: number
}

export interface EventMonitor<M extends Record<string, unknown>> {
  /** The next event of that name that no earlier call was given, waited for where there is none yet. */
  awaitNext<K extends keyof M & string>(name: K, wait?: EventWait<M[K]>): Promise<M[K]>
  /** How many there were since the watch began. */
  count(name: keyof M & string): number
  /** All of that name since the watch began. */
  all<K extends keyof M & string>(name: K): readonly M[K][]
  /** @throws Error that lists them, when there was any */
  assertNone(name: keyof M & string): void
  /** Ends the watch; what was seen stays. */
  stop(): void
}

/**
 * Watches an emitter by name, from now on. Events are kept, so nothing is missed between an act and the wait for it.
 * `M` maps the name of an event to its first argument.
 *
 * @example
 * const seen = monitorEvents<TriggerEvents>(trigger.events, ['slot.claimed', 'slot.lost'])
 * await seen.awaitNext('slot.claimed', { where: (event) => event.slot === key })
 * seen.assertNone('slot.lost')
 */
export function monitorEvents<M extends Record<string, unknown>>(
  source: EventSource,
  names: readonly (keyof M & string)[],
): EventMonitor<M> {
  const seen = new Map<string, unknown[]>()
  const given = new Map<string, number>()
  const listeners = new Map<string, (...args: unknown[]) => void>()
  for (const name of names) {
    const events: unknown[] = []
    const listener = (event: unknown) => void events.push(event)
    seen.set(name, events)
    listeners.set(name, listener)
    source.on(name, listener)
  }
  const eventsOf = (name: string): readonly unknown[] => {
    const events = seen.get(name)
    if (events === undefined) throw new Error(`"${name}" is not watched; watched are ${[...seen.keys()].join(', ')}`)
    return events
  }
  return {
    awaitNext: async <K extends keyof M & string>(name: K, wait: EventWait<M[K]> = {}) => {
      const events = eventsOf(name) as readonly M[K][]
      const { where = () => true, timeoutMs = 10_000 } = wait
      const from = given.get(name) ?? 0
      const find = () => events.findIndex((event, index) => index >= from && where(event)) + 1
      const message = () => `event "${name}"; seen: ${JSON.stringify(events)}`
      const next = await waitUntil(find, { message, timeoutMs })
      given.set(name, Math.max(next, given.get(name) ?? 0))
      return events[next - 1] as M[K]
    },
    count: (name) => eventsOf(name).length,
    all: <K extends keyof M & string>(name: K) => eventsOf(name) as readonly M[K][],
    assertNone: (name) => {
      const events = eventsOf(name)
      if (events.length > 0) throw new Error(`expected no "${name}", got ${events.length}: ${JSON.stringify(events)}`)
    },
    stop: () => {
      for (const [name, listener] of listeners) source.off(name, listener)
    },
  }
}
