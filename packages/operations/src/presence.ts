import {
  type Heard,
  listReplicas,
  listWorkers,
  type ReplicaPresence,
  readTime,
  type Store,
  type WorkerPresence,
} from '@cronce/store'

/** Whether a process is there: heard of lately, silent since then, or gone with a goodbye. */
export type PresenceState = 'live' | 'silent' | 'left'

export interface Presences {
  readonly now: number
  readonly replicas: readonly (Heard<ReplicaPresence> & { readonly state: PresenceState })[]
  readonly workers: readonly (Heard<WorkerPresence> & { readonly state: PresenceState })[]
}

/** Three heartbeats: one may be late and one may be lost. */
export const ALIVE_MS = 45_000

/** How far back processes that went silent are listed. */
const LISTED_MS = 3_600_000

/** Replicas and workers of the last hour, live ones first. */
export async function listPresence(store: Store): Promise<Presences> {
  const now = await readTime(store)
  const since = now - LISTED_MS
  const [replicas, workers] = await Promise.all([listReplicas(store, since), listWorkers(store, since)])
  return { now, replicas: byState(replicas, now), workers: byState(workers, now) }
}

function byState<Presence extends Heard<{ id: string }>>(
  presences: readonly Presence[],
  now: number,
): (Presence & { state: PresenceState })[] {
  const order: readonly PresenceState[] = ['live', 'silent', 'left']
  return presences
    .map((presence) => ({ ...presence, state: stateOf(presence, now) }))
    .toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state) || (a.id < b.id ? -1 : 1))
}

function stateOf({ heardAt, leftAt }: Heard<object>, now: number): PresenceState {
  if (leftAt !== undefined && leftAt >= heardAt) return 'left'
  return heardAt >= now - ALIVE_MS ? 'live' : 'silent'
}
