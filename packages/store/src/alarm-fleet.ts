import { counted, parseJson } from './alarm-reply.ts'
import type { Heard, ReplicaPresence, WorkerPresence } from './presence.ts'
import { parseRaised, type RaisedAlarm } from './raised-alarm.ts'
import { type Reply, readReply } from './reply.ts'
import type { Store } from './store.ts'

/** What looks at the whole service need to know of one job. */
export interface JobPlace {
  readonly job: string
  readonly place: unknown
}

/** What a watchdog judges a service by as a whole. */
export interface FleetFacts {
  readonly now: number
  /** The fleet's raised alarms as text, and read. */
  readonly known: string
  readonly raised: readonly RaisedAlarm[]
  readonly replicas: readonly Heard<ReplicaPresence>[]
  readonly workers: readonly Heard<WorkerPresence>[]
  /** When each process with a watchdog in it last looked, by Redis's time. */
  readonly watchers: ReadonlyMap<string, number>
  readonly places: readonly JobPlace[]
}

/** Reads what a watchdog judges a service by, but for the places of its jobs: one command. */
export async function readFleetFacts(store: Store): Promise<FleetFacts> {
  const reply = readReply(await store.span('alarm-fleet', []))
  return fleetFacts(reply, reply.number())
}

/** What `include/fleet.lua` adds to an answer. */
export function fleetFacts(reply: Reply, now: number): FleetFacts {
  const known = reply.text()
  const replicas = counted(reply, () => parseJson(reply.text()) as Heard<ReplicaPresence>)
  const workers = counted(reply, () => parseJson(reply.text()) as Heard<WorkerPresence>)
  const watchers = new Map(counted(reply, () => [reply.text(), reply.number()] as const))
  const jobs = counted(reply, () => ({ job: reply.text(), place: parseJson(reply.text()) }))
  return { now, known, raised: parseRaised(known), replicas, workers, watchers, places: jobs }
}

/** Sweeps put a job with something open off by at most this, ms (the longest sweep that a process may be given). */
const LONGEST_SWEEP_MS = 600_000

/**
 * Jobs that may have something overdue, whether or not any process sweeps or watches, by the sets of open work (A5): those that are
 * to be looked at by now, or would be after the longest sweep. One command.
 */
export async function listJobsToLookAt(store: Store): Promise<string[]> {
  return (await store.span('alarm-candidates', [LONGEST_SWEEP_MS])).map(String)
}
