import { isEnded, RUN_STATES, type RunState, type SlotKey } from '@cronce/core'
import { listForgottenJobs, listJobNames, listSlots, readSlotEvents, type Store } from '@cronce/store'

/** Something that must never be, and was. */
export interface Breach {
  readonly rule: string
  readonly job: string
  readonly slot: SlotKey | undefined
  /** When it was found. */
  readonly at: number
  readonly problem: string
  readonly count: number
  readonly reason: string
}

const MOST_SLOTS = 2_000

/** The longest that a slow run takes, its task late and given out again. */
const LONGEST_RUN_MS = 15 * 60_000

/**
 * Looks at every slot's own story: it ended or was dropped once, by a system that lives and has workers, and no run began after that.
 */
export async function checkRuns(store: Store, range: { fromAt: number; toAt: number; now: number }): Promise<Breach[]> {
  const breaches: Breach[] = []
  for (const job of await allJobs(store)) {
    const slots = await listSlots(store, job, { fromAt: range.fromAt, untilAt: range.toAt - 1, limit: MOST_SLOTS })
    for (const { id, slot, state, enqueuedAt = 0, startedAt = 0 } of slots) {
      const say = (problem: string, reason: string) =>
        breaches.push({ rule: 'run once', job, slot, at: range.now, problem, count: 1, reason })
      const isQuiet = Math.max(enqueuedAt, startedAt) < range.now - LONGEST_RUN_MS
      if (isQuiet && (state === 'enqueued' || state === 'running')) say('unended', `still ${state}`)
      const states = (await readSlotEvents(store, job, id))
        .map(({ event }) => event)
        .filter((event) => event in RUN_STATES) as RunState[]
      const end = states.findIndex((each) => isEnded(each) || each === 'skipped' || each === 'missed')
      const after = states
        .slice(end + 1)
        .find((each) => end >= 0 && (each === 'running' || each === 'claimed' || each === 'enqueued'))
      if (after !== undefined) say('double', `${after} after it had ended`)
    }
  }
  return breaches
}

async function allJobs(store: Store): Promise<string[]> {
  const lists = await Promise.all([listJobNames(store), listForgottenJobs(store)])
  return [...new Set(lists.flat())]
}
