import { cutBacklog, listGaps, listSlots } from '@cronce/store'
import { type Cut, cutOutage, reachOfCut } from './catch-up.ts'
import type { TriggerContext } from './trigger-context.ts'
import type { WatchedJob } from './watched-job.ts'

/** How many records and gaps of an outage one cut reckons with; an outage that has more is cut in several. */
const MOST_KNOWN = 500

/** How often a cut is tried: each failure means that another replica made it, or claimed something meanwhile. */
const CUT_TRIES = 5

/** T5: cuts what is older than grace and unknown to the ledger, once per outage and fleet. Answers whether there was anything. */
export async function cutBacklogOf(context: TriggerContext, job: WatchedJob, at: { now: number; graceMs: number }): Promise<boolean> {
  const { store, replica, events } = context
  const { schedule, catchUp } = job.settings
  for (let tries = 0; tries < CUT_TRIES; tries++) {
    const afterAt = Math.max(job.watermarkAt, job.sinceAt)
    const reachAt = reachOfCut(schedule, { afterAt, now: at.now, graceMs: at.graceMs, spreadMs: job.spreadMs })
    if (reachAt === undefined) return tries > 0
    const [known, gaps] = await Promise.all([
      listSlots(store, job.name, { fromAt: job.watermarkAt + 1, untilAt: reachAt, limit: MOST_KNOWN }),
      listGaps(store, job.name, { afterAt: job.watermarkAt, limit: MOST_KNOWN }),
    ])
    // Runs by hand have identities of their own: they are counted by the script, but stand for no slot of the schedule.
    const knownAt = known.filter(({ id }) => !id.includes('+')).map((entry) => entry.at)
    const cut = cutOutage({ schedule, catchUp, spreadMs: job.spreadMs, afterAt, reachAt, now: at.now, knownAt, gaps })
    if (cut.gaps.length === 0 && cut.admitted.length === 0) return tries > 0
    const answer = await cutBacklog(store, {
      job: job.name,
      generation: job.generation,
      watermarkAt: job.watermarkAt,
      toAt: reachAt,
      known: known.length + gaps.length,
      cause: catchUp.mode === 'late' ? 'late' : 'catch-up',
      by: replica,
      ...cut,
    })
    if (answer.generation !== job.generation) return true
    job.watermarkAt = answer.watermarkAt
    if (answer.status === 'ok') {
      tell(events, job.name, cut)
      return true
    }
  }
  return true
}

function tell(events: TriggerContext['events'], job: string, cut: Cut): void {
  for (const gap of cut.gaps) events.emit('slots.cut', { job, ...gap })
  if (cut.admitted.length > 0) events.emit('slots.admitted', { job, count: cut.admitted.length })
}
