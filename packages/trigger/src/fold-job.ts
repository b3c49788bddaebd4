import { countBetween, parseJobSettings, type Schedule } from '@cronce/core'
import {
  dropImages,
  findNeighbours,
  foldGaps,
  foldHistory,
  listGaps,
  listGenerations,
  listReplicas,
  mergeNeighbours,
  oldestDay,
} from '@cronce/store'
import { daysOfGap, joinNeighbours } from './neighbours.ts'
import type { TriggerContext } from './trigger-context.ts'
import type { WatchedJob } from './watched-job.ts'

/** How often a replica folds the history of one job, ms; and the most scripts it takes: a job that fires every second keeps up. */
const FOLD_EVERY_MS = 60_000
const MOST_FOLDS = 20

/** T12: the newest records that stay as they are, so that an operator sees what became of each of the last slots. */
const NEWEST_KEPT = 10

/** Pages of 100 records that one look goes through for neighbours; the fleet's next one goes on there. */
const MOST_PAGES = 20

/** Gaps that are folded at once, and the days that they may reach over together. */
const MOST_GAPS = 100
const MOST_DAYS = 1_000

/** T12: in small scripts, and no more often than it is worth. */
export async function foldJob(context: TriggerContext, job: WatchedJob): Promise<void> {
  const now = context.redisClock.now()
  if (now - job.history.foldedAt < FOLD_EVERY_MS) return
  job.history.foldedAt = now
  await mergeDropped(context, job, now)
  for (let calls = 1; ; calls++) {
    const { folded, gaps, images } = await foldHistory(context.store, job.name, { now, bounds: context.history })
    if (folded > 0 && calls < MOST_FOLDS) continue
    if (gaps > context.history.detailSlots) await foldOldestGaps(context, job, gaps - context.history.detailSlots)
    if (images.length > 0) await dropUncarried(context, job, images)
    return
  }
}

/** Neighbours that did not run for one reason become one gap, before they push out of detail what did run. */
async function mergeDropped(context: TriggerContext, job: WatchedJob, now: number): Promise<void> {
  const { history, settings, sinceAt, generation } = job
  // Fewer slots than are kept as they are cannot have made anything to merge.
  const lookedAt = Math.max(history.mergedAt, sinceAt)
  if (now <= lookedAt || countBetween(settings.schedule, lookedAt, now) < NEWEST_KEPT) return
  history.mergedAt = now
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const { hasMore, chains } = await findNeighbours(context.store, job.name, { sinceAt, keep: NEWEST_KEPT })
    for (const gap of chains.flatMap((chain) => joinNeighbours(settings.schedule, chain)))
      await mergeNeighbours(context.store, job.name, { generation, gap })
    if (!hasMore) return
  }
}

/** A job that skips every few slots has more gaps than are kept: the oldest fold, as slots do. */
async function foldOldestGaps(context: TriggerContext, job: WatchedJob, surplus: number): Promise<void> {
  const { store, history } = context
  const oldest = await listGaps(store, job.name, { afterAt: 0, limit: Math.min(surplus, MOST_GAPS) })
  const { at: firstAt } = oldestDay(context.redisClock.now(), history)
  const scheduleAt = await schedulesOf(context, job, oldest[0]?.fromAt ?? job.sinceAt)
  const dated = oldest.map((gap) => daysOfGap(gap, { schedule: scheduleAt(gap.fromAt), firstAt }))
  let days = 0
  const some = dated.filter((gap, index) => {
    days += gap.days.length
    return index === 0 || days <= MOST_DAYS
  })
  await foldGaps(store, job.name, some)
}

/** Which schedule was in force after an instant; undefined where it cannot be read any more. */
async function schedulesOf(
  { store }: TriggerContext,
  { name, sinceAt, settings }: WatchedJob,
  fromAt: number,
): Promise<(at: number) => Schedule | undefined> {
  if (fromAt >= sinceAt) return () => settings.schedule
  const generations = await listGenerations(store, name)
  return (at) => {
    const owner = generations.findLast((each) => each.sinceAt <= at)
    return parseJobSettings(owner?.settings).ok?.schedule
  }
}

/** An image that restarts must not be taken for a new one (T6): what somebody carries is known. */
async function dropUncarried(context: TriggerContext, { name }: WatchedJob, images: readonly string[]): Promise<void> {
  const carried = new Set((await listReplicas(context.store, 0)).map((replica) => replica.images[name]))
  const unused = images.filter((image) => !carried.has(image))
  if (unused.length === 0) return
  const { at: beforeAt } = oldestDay(context.redisClock.now(), context.history)
  await dropImages(context.store, name, { images: unused, beforeAt })
}
