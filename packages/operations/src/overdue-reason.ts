import type { JobSettings } from '@cronce/core'
import type { LedgerEntry } from '@cronce/store'
import type { Presences } from './presence.ts'

/** Who is there to do the work. */
export type Company = Presences

/** Why nobody has recorded a slot that was due. */
export function describeDelay({ name }: JobSettings, company: Company): string {
  const live = company.replicas.filter(({ state }) => state === 'live')
  if (live.length === 0) return 'no trigger alive'
  // Releases from before images were announced say nothing of what they carry.
  const carriers = live.filter(({ images }) => images === undefined || name in images)
  if (carriers.length === 0) return `none of ${live.length} live replicas carries the job`
  return `not claimed, though ${counted(carriers.length, 'live replica')} should have`
}

/** Why a slot that the ledger has did not start, or did not end. */
export function describeRun(entry: LedgerEntry, settings: JobSettings, company: Company): string {
  switch (entry.state) {
    case 'due':
      return describeDelay(settings, company)
    case 'claimed':
      return `claimed by ${entry.claimedBy ?? 'somebody'}, not seen on the queue since`
    default:
      return describeWork(entry, settings, company)
  }
}

function describeWork(entry: LedgerEntry, settings: JobSettings, company: Company): string {
  const { name, queue, version } = settings
  const live = company.workers.filter(({ state }) => state === 'live')
  const serving = live.filter(({ queues }) => queue in queues)
  if (serving.length === 0) return `no worker serves queue "${queue}"`
  const fitting = serving.filter(({ handlers }) => handlers[name] === version)
  if (fitting.length === 0) return `no worker of queue "${queue}" has a handler for version ${version}`
  if (entry.state === 'running') {
    const { done, planned } = entry.entities
    return `still running: ${done} of ${planned} entities done`
  }
  return `waits in queue "${queue}", which ${counted(fitting.length, 'worker')} serve${fitting.length === 1 ? 's' : ''}`
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
