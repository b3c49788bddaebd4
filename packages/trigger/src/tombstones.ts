import { askForLook, eraseJob, listAgain, putOffJob, type TakenJob, takeJobs } from '@cronce/store'
import { passOverFault } from './row-fault.ts'
import type { TriggerContext } from './trigger-context.ts'

const DAY_MS = 24 * 3600 * 1000

/** What is under way of a job that history no longer reaches back to is waited for, at most this long. */
const WAIT_MS = 30 * DAY_MS

/** Tombstones that one look takes, how many of them at once, and the scripts it spends on each: a large job takes several looks. */
const MOST_TOMBSTONES = 500
const AT_ONCE = 25
const MOST_STEPS = 40

/** T8: looks at tombstones whose time has come. Done once per lease and fleet. */
export async function eraseTombstones(context: TriggerContext): Promise<void> {
  const { store, timing } = context
  const { jobs } = await takeJobs(store, 'tombstones', { putOffMs: timing.heartbeatMs, most: MOST_TOMBSTONES })
  for (let start = 0; start < jobs.length; start += AT_ONCE) {
    const slice = jobs.slice(start, start + AT_ONCE)
    await Promise.all(slice.map((taken) => passOverFault(context, taken.job, () => erase(context, taken))))
  }
}

async function erase(context: TriggerContext, taken: TakenJob): Promise<void> {
  const { store, enqueuer, history, redisClock } = context
  let letters: readonly string[] = []
  for (let steps = 0; steps < MOST_STEPS; steps++) {
    const erasure = await eraseJob(store, taken.job, { keptMs: history.days * DAY_MS, waitMs: WAIT_MS, letters })
    if (erasure.status === 'more') {
      letters = erasure.letters
      // Before their records: a crash in between leaves records, which the next look finds.
      await enqueuer.hideDeadLetters(letters)
      continue
    }
    if (erasure.status === 'back') {
      await askForLook(store, 'watch', [{ job: taken.job, lookAt: redisClock.now() }])
      await listAgain(store, taken.job)
    }
    const lookAt = erasure.status === 'early' ? erasure.lookAt : undefined
    await putOffJob(store, 'tombstones', { ...taken, lookAt })
    return
  }
}
