import { lastSlot, parseSlotId } from '@cronce/core'
import { type CutRequest, cutBacklog, listGaps, type StoredPause, slotIds } from '@cronce/store'
import { type Cut, cutOutage, cutPause, cutRestoration, type Outage, reachOfCut } from './catch-up.ts'
import type { TriggerContext } from './trigger-context.ts'
import { rewatch, type WatchedJob } from './watched-job.ts'

/**
 * How many records, and gaps, after the watermark a cut reckons with: more than history keeps in detail, and than one outage admits. They
 * pile up while one slot waits for a run before it.
 */
const MOST_KNOWN = 12_000

/** How often a cut is tried: each failure means that another replica made it, or claimed something meanwhile. */
const CUT_TRIES = 5

/** T5: cuts what is older than grace and unknown to the ledger, once per outage and fleet. Answers whether there was anything. */
export function cutBacklogOf(
  context: TriggerContext,
  job: WatchedJob,
  { graceMs }: { graceMs: number },
): Promise<boolean> {
  return cutUntil(context, job, (now) => {
    const afterAt = Math.max(job.watermarkAt, job.sinceAt)
    const reachAt = reachOfCut(job.settings.schedule, { ...job, afterAt, now, graceMs })
    return reachAt === undefined ? undefined : { reachAt, ends: '', cut: cutOutage }
  })
}

/** T10: an edit in the middle of a pause: what the old schedule would have owed meanwhile is the pause's, which goes on. */
export function cutWhilePaused(context: TriggerContext, job: WatchedJob, pause: StoredPause): Promise<boolean> {
  return cutUntil(context, job, (now) => {
    const afterAt = Math.max(job.watermarkAt, job.sinceAt)
    const reachAt = Math.max(lastDue(job, now) ?? afterAt, afterAt)
    return { reachAt, ends: '', cut: (outage) => cutPause(outage, { ...pause, missed: 'skip' }) }
  })
}

/** T10: a pause has ended; what became of its slots is cut once, by the replica that is first. */
export async function cutPauseOf(context: TriggerContext, name: string): Promise<void> {
  const job = await rewatch(context, name)
  const pause = job?.pause
  if (job === undefined || pause === undefined) return
  await cutUntil(context, job, (now) => {
    const afterAt = Math.max(job.watermarkAt, job.sinceAt)
    const reachAt = Math.max(lastDue(job, now) ?? afterAt, afterAt)
    return { reachAt, ends: 'resume', cut: (outage) => cutPause(outage, pause) }
  })
  await rewatch(context, name)
}

/** S3: memories are merged; what nobody remembers as recorded is due again, or given up where the crash policy is `skip`. */
export async function cutRestorationOf(context: TriggerContext, name: string): Promise<void> {
  const job = await rewatch(context, name)
  const restoration = job?.restoration
  if (job === undefined || restoration === undefined) return
  await cutUntil(context, job, (now) => {
    const afterAt = Math.max(job.watermarkAt, job.sinceAt)
    const last = lastDue(job, now) ?? afterAt
    const reachAt = Math.max(afterAt, job.settings.onCrash === 'skip' ? last : Math.min(last, restoration.memoryAt))
    return {
      reachAt,
      ends: job.settings.onCrash === 'skip' ? 'restore-skip' : 'restore',
      cut: (outage) => cutRestoration(outage, restoration.memoryAt),
    }
  })
  await rewatch(context, name)
}

/** The newest slot that is due; none after a removal is (T8). */
function lastDue(
  { settings, spreadMs, goneAt = Number.POSITIVE_INFINITY }: WatchedJob,
  now: number,
): number | undefined {
  return lastSlot(settings.schedule, Math.min(now - spreadMs, goneAt))
}

/** What a cut reaches to, what it ends beside an outage, and how it judges. */
interface CutPlan {
  readonly reachAt: number
  readonly ends: CutRequest['ends']
  readonly cut: (outage: Outage) => Cut
}

async function cutUntil(
  context: TriggerContext,
  job: WatchedJob,
  plan: (now: number) => CutPlan | undefined,
): Promise<boolean> {
  const { store, replica, redisClock } = context
  const { schedule, catchUp } = job.settings
  for (let tries = 0; tries < CUT_TRIES; tries++) {
    const now = redisClock.now()
    const planned = plan(now)
    if (planned === undefined) return tries > 0
    const { reachAt, ends } = planned
    const [known, gaps] = await Promise.all([
      slotIds(store, job.name, { fromAt: job.watermarkAt + 1, untilAt: reachAt, limit: MOST_KNOWN }),
      listGaps(store, job.name, { afterAt: job.watermarkAt, limit: MOST_KNOWN }),
    ])
    // Runs by hand have identities of their own: they are counted by the script, but stand for no slot of the schedule.
    const knownAt = known.flatMap((id) => (id.includes('+') ? [] : (parseSlotId(id)?.at ?? [])))
    const afterAt = Math.max(job.watermarkAt, job.sinceAt)
    const cut = planned.cut({ schedule, catchUp, spreadMs: job.spreadMs, afterAt, reachAt, now, knownAt, gaps })
    if (ends === '' && cut.gaps.length === 0 && cut.admitted.length === 0) return tries > 0
    const answer = await cutBacklog(store, {
      job: job.name,
      generation: job.generation,
      watermarkAt: job.watermarkAt,
      toAt: reachAt,
      known: known.length + gaps.length,
      cause: catchUp.mode === 'late' ? 'late' : 'catch-up',
      by: replica,
      ends,
      ...cut,
    })
    if (answer.generation !== job.generation) return true
    job.watermarkAt = answer.watermarkAt
    if (answer.status === 'ok') {
      tell(context.events, job.name, cut)
      return true
    }
  }
  return true
}

function tell(events: TriggerContext['events'], job: string, cut: Cut): void {
  for (const gap of cut.gaps) events.emit('slots.cut', { job, ...gap })
  if (cut.admitted.length > 0) events.emit('slots.admitted', { job, count: cut.admitted.length })
}
