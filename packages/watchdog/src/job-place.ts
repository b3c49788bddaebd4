import type { JobSettings } from '@cronce/core'
import type { JobFacts, JobPlace } from '@cronce/store'
import { stateOfStarts } from './overdue-slots.ts'

/** What a look at the whole service needs to know of a job; kept beside the alarms, so that it costs one read for all jobs. */
export interface Place {
  readonly queue: string
  readonly version: number
  readonly registeredAt: number
  /** Whether an image has to carry it. */
  readonly carried: 'static' | 'dynamic'
  /** Whether its slots are owed, and by a worker of ours. */
  readonly state: 'fire' | 'paused' | 'gone' | 'foreign'
}

export function placeOf(facts: JobFacts, settings: JobSettings): Place {
  const starts = stateOfStarts(facts)
  return {
    queue: settings.queue,
    version: settings.version,
    registeredAt: facts.registeredAt,
    carried: facts.dynamic ? 'dynamic' : 'static',
    state: starts === 'fire' && settings.enqueue !== undefined ? 'foreign' : starts,
  }
}

/** The places that this release can read. */
export function readPlaces(places: readonly JobPlace[]): (Place & { readonly job: string })[] {
  return places.flatMap(({ job, place }) => (isPlace(place) ? [{ ...place, job }] : []))
}

function isPlace(value: unknown): value is Place {
  return typeof value === 'object' && value !== null && 'queue' in value && 'state' in value
}
