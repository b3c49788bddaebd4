import type { FleetFacts, Heard, ReplicaPresence, WorkerPresence } from '@cronce/store'

/** A process that does not say how often it speaks is taken for gone after this silence, ms. */
export const SILENCE_MS = 45_000

/** So many silences in a row count. */
const SILENCES = 3

/** A process whose watchdog looked this recently lives, ms: it looks at least every minute. */
export const WATCHER_FRESH_MS = 150_000

/** Who of a service lives, by what a look read. */
export interface Liveness {
  readonly now: number
  readonly replicas: readonly Heard<ReplicaPresence>[]
  readonly workers: readonly Heard<WorkerPresence>[]
  readonly liveReplicas: readonly Heard<ReplicaPresence>[]
  readonly liveWorkers: readonly Heard<WorkerPresence>[]
  readonly watchers: ReadonlyMap<string, number>
}

/** Judges who lives. Pure. A worker is heard by its watchdog as well, whose instants are Redis's and not of a clock that errs. */
export function livenessOf(facts: Pick<FleetFacts, 'now' | 'replicas' | 'workers' | 'watchers'>): Liveness {
  const { now, replicas, watchers } = facts
  const workers = facts.workers.map((worker) => ({
    ...worker,
    heardAt: Math.max(worker.heardAt, worker.leftAt === undefined ? (watchers.get(worker.id) ?? 0) : 0),
  }))
  const lives = (presence: Heard<{ heartbeatMs?: number }>) =>
    presence.leftAt === undefined && presence.heardAt > now - silenceOf(presence)
  return { now, replicas, workers, watchers, liveReplicas: replicas.filter(lives), liveWorkers: workers.filter(lives) }
}

/** How long a process may be silent before it counts as gone, ms. */
export function silenceOf({ heartbeatMs }: { readonly heartbeatMs?: number }): number {
  return Math.max(SILENCE_MS, SILENCES * (heartbeatMs ?? 0))
}

/** When these were last heard of: their goodbye, where they said one. */
export function lastHeardAt(presences: readonly Heard<object>[]): number | undefined {
  const instants = presences.map(({ heardAt, leftAt }) => leftAt ?? heardAt)
  return instants.length === 0 ? undefined : Math.max(...instants)
}
