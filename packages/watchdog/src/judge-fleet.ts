import type { Condition } from './condition.ts'
import { instantText } from './instant-text.ts'
import type { Place } from './job-place.ts'
import { UNSERVED_AFTER_MS } from './judge-job.ts'
import { type Liveness, lastHeardAt, silenceOf, WATCHER_FRESH_MS } from './liveness.ts'
import { unservedBecause } from './service-of-job.ts'

export type PlacedJob = Place & { readonly job: string }

export interface FleetJudgement {
  readonly conditions: readonly Condition[]
  /** Jobs that nobody seems to carry or to have a handler for: to be judged now. */
  readonly suspects: readonly string[]
}

/** Jobs that one look sends to be judged; the rest is found by the next. */
const MOST_SUSPECTS = 500

/** Jobs that a reason names. */
const MOST_NAMED = 3

/** What is the matter with the service as a whole. Pure. */
export function judgeFleet(places: readonly PlacedJob[], fleet: Liveness): FleetJudgement {
  const owed = places.filter(({ state }) => state !== 'gone')
  return {
    conditions: [...(owed.length === 0 ? [] : judgeTriggers(fleet)), ...judgeQueues(places, fleet)],
    suspects: places
      .filter((place) => isUncarried(place, fleet) || isUnhandled(place, fleet))
      .slice(0, MOST_SUSPECTS)
      .map(({ job }) => job),
  }
}

function judgeTriggers(fleet: Liveness): Condition[] {
  const { now, replicas, liveReplicas, watchers } = fleet
  const stopped = replicas.flatMap((replica): Condition[] => {
    // Its watchdog still looks, so the process lives; a process that died has no watchdog either, and others fire in its place.
    const isWatching = (watchers.get(replica.id) ?? 0) > now - WATCHER_FRESH_MS
    if (replica.leftAt !== undefined || !isWatching || replica.heardAt > now - silenceOf(replica)) return []
    const reason = `the process of replica ${replica.id} lives, and its trigger loop has not ticked since ${instantText(replica.heardAt, now)}`
    return [{ key: `loop-stopped replica ${replica.id}`, kind: 'loop-stopped', sinceAt: replica.heardAt, reason }]
  })
  if (liveReplicas.length > 0) return stopped
  const heardAt = lastHeardAt(replicas)
  // All of them said goodbye: a deploy that stops the old ones before it starts the new ones has so much time.
  if (heardAt !== undefined && now - heardAt < Math.max(...replicas.map(silenceOf))) return stopped
  const since = heardAt === undefined ? '' : ` since ${instantText(heardAt, now)}`
  return [
    ...stopped,
    { key: 'loop-stopped service', kind: 'loop-stopped', sinceAt: heardAt ?? now, reason: `no trigger alive${since}` },
  ]
}

function judgeQueues(places: readonly PlacedJob[], fleet: Liveness): Condition[] {
  const queues = new Map<string, PlacedJob[]>()
  for (const place of places) {
    if (place.state !== 'fire') continue
    const jobs = queues.get(place.queue)
    if (jobs === undefined) queues.set(place.queue, [place])
    else jobs.push(place)
  }
  return [...queues].flatMap(([queue, jobs]): Condition[] => {
    const unserved = unservedBecause({ name: '', queue, version: 1 }, fleet)
    if (unserved?.what !== 'queue') return []
    const sinceAt = unserved.sinceAt ?? Math.min(...jobs.map(({ registeredAt }) => registeredAt))
    if (fleet.now - sinceAt < UNSERVED_AFTER_MS) return []
    const names = jobs.map(({ job }) => job).toSorted()
    const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : ''
    const reason = `${unserved.reason}; it has the jobs ${names.slice(0, MOST_NAMED).join(', ')}${more}`
    return [{ key: `queue-unserved queue ${queue}`, kind: 'queue-unserved', sinceAt, reason }]
  })
}

function isUncarried({ job, carried }: PlacedJob, { liveReplicas }: Liveness): boolean {
  return (
    carried === 'static' && liveReplicas.length > 0 && !liveReplicas.some(({ images }) => images[job] !== undefined)
  )
}

function isUnhandled({ job, queue, version, state }: PlacedJob, fleet: Liveness): boolean {
  return state === 'fire' && unservedBecause({ name: job, queue, version }, fleet)?.what === 'handler'
}
