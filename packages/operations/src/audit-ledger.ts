import { parseSlotId, type SlotId } from '@cronce/core'
import {
  lastEventAt,
  listGaps,
  liveSlotIds,
  openSlotIds,
  type RecordedGap,
  readSlot,
  type Store,
  slotIds,
} from '@cronce/store'

const PAGE = 1_000

/** Open slots of one job that an audit judges; there are never more by T5's bound. */
const MOST_OPEN = 10_000

/** Open slots whose records are read. */
const MOST_READ = 200

/** A job's ledger, read forward and in pages. */
export interface LedgerCursor {
  /** The ids of records in detail in (the last call's end, until]. */
  ids(untilAt: number): Promise<SlotId[]>
  /** The gaps that reach into (after, until]; both never go back. */
  gaps(afterAt: number, untilAt: number): Promise<readonly RecordedGap[]>
}

export function openCursor(store: Store, job: string, afterAt: number): LedgerCursor {
  let idsFrom = afterAt + 1
  let held: RecordedGap[] = []
  let gapsAfter = afterAt
  let gapsLeft = true
  return {
    async ids(untilAt) {
      const found: SlotId[] = []
      for (let offset = 0; ; ) {
        const page = await slotIds(store, job, { fromAt: idsFrom, untilAt, offset, limit: PAGE })
        found.push(...page)
        if (page.length < PAGE) break
        // By instant, not by rank: history folds meanwhile.
        const last = parseSlotId(page.at(-1) ?? '')?.at ?? untilAt
        offset = last === idsFrom ? offset + page.length : page.filter((id) => parseSlotId(id)?.at === last).length
        idsFrom = last
      }
      idsFrom = untilAt + 1
      return found
    },
    async gaps(after, untilAt) {
      while (gapsLeft && (held.at(-1)?.fromAt ?? Number.NEGATIVE_INFINITY) < untilAt) {
        const page = await listGaps(store, job, { afterAt: gapsAfter, limit: PAGE })
        held.push(...page)
        gapsLeft = page.length === PAGE
        gapsAfter = page.at(-1)?.toAt ?? gapsAfter
      }
      held = held.filter(({ toAt }) => toAt > after)
      return held.filter(({ fromAt }) => fromAt < untilAt)
    },
  }
}

/** The slots of a job that are due or claimed. */
export interface OpenSlots {
  readonly ids: ReadonlySet<SlotId>
  /** Those that nothing moves any more, or that the watermark passed. */
  readonly stuck: ReadonlySet<SlotId>
}

export interface OpenRequest {
  readonly watermarkAt: number
  /** What happened after this is recent. */
  readonly graceAt: number
  /** How late backlog may start, by the definition in force. */
  readonly catchUpMs: number
  /** Whether something holds the job up that will end: a pause, say. */
  readonly isHeld: boolean
}

/** Judges what is due or claimed: it moves, it waits for a run before it, or it is stuck. */
export async function readOpenSlots(store: Store, job: string, request: OpenRequest): Promise<OpenSlots> {
  const [ids, live] = await Promise.all([openSlotIds(store, job, MOST_OPEN), liveSlotIds(store, job, MOST_READ)])
  const scheduled = ids.filter((id) => !id.includes('+'))
  const open = new Set(scheduled)
  const waits = live.some((id) => !open.has(id))
  const stuck = new Set<SlotId>()
  for (const id of scheduled.slice(0, MOST_READ))
    if (await isStuck(store, { job, id, waits, ...request })) stuck.add(id)
  return { ids: open, stuck }
}

async function isStuck(
  store: Store,
  request: OpenRequest & { job: string; id: SlotId; waits: boolean },
): Promise<boolean> {
  const { job, id, waits, watermarkAt, graceAt, catchUpMs, isHeld } = request
  const entry = await readSlot(store, job, id)
  if (entry === undefined) return false
  const isAsked = entry.cause === 'backfill' || entry.cause === 'manual'
  // T1: the watermark stops before what is due or claimed; but a backfill reopens what it has passed (T11).
  if (entry.at <= watermarkAt && !isAsked) return true
  if (isHeld) return false
  // T5: backlog runs one after another, and is given up when it is later than the window.
  if (entry.cause === 'late' || entry.cause === 'catch-up') return entry.effectiveAt + catchUpMs < graceAt
  return !waits && ((await lastEventAt(store, job, id)) ?? 0) < graceAt
}
