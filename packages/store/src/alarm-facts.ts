import { type Cause, parseSlotId, type RunState, type SlotId } from '@cronce/core'
import { counted, parseJson } from './alarm-reply.ts'
import type { Gap } from './cuts.ts'
import type { StoredPause } from './registry.ts'
import { type Reply, readReply } from './reply.ts'
import type { Store } from './store.ts'

/** Slots of each kind, and durations, that one look reads of a job. */
const MOST_SLOTS = 50
const MOST_KNOWN = 1_000
const MOST_DURATIONS = 20

/** A slot that is open or on its way. Instants in epoch ms; undefined where it has not happened. */
export interface UnendedSlot {
  readonly id: SlotId
  readonly at: number
  readonly effectiveAt: number
  readonly state: RunState
  readonly cause: Cause
  readonly claimedAt: number | undefined
  readonly claimedBy: string | undefined
  readonly enqueuedAt: number | undefined
  readonly startedAt: number | undefined
  readonly startedBy: string | undefined
  /** Outcomes so far: more than 0 is a redrive. */
  readonly version: number
  /** Whether it waits for the run before it (T9). */
  readonly waits: boolean
  /** Entities, as far as they are planned and done. */
  readonly planned: number
  readonly done: number
}

/** What a watchdog judges one job by. */
export interface JobFacts {
  readonly name: string
  readonly now: number
  readonly sinceAt: number
  readonly watermarkAt: number
  /** Whether a generation is being closed: the settings are about to be others. */
  readonly switching: boolean
  readonly registeredAt: number
  readonly dynamic: boolean
  readonly goneAt: number | undefined
  readonly renamedTo: string | undefined
  readonly pause: Pick<StoredPause, 'state' | 'at' | 'untilAt'> | undefined
  /** As stored; parse before use. */
  readonly settings: unknown
  /** The oldest that have not ended, of each state's set. */
  readonly unended: readonly UnendedSlot[]
  /** Nominal instants above the watermark that the ledger has a record of, oldest first. */
  readonly knownAt: readonly number[]
  /** Whether there are more of them than were read. */
  readonly knownInFull: boolean
  readonly gaps: readonly Pick<Gap, 'fromAt' | 'toAt'>[]
  /** The last runs that ended, newest first. */
  readonly durations: readonly { readonly at: number; readonly durationMs: number }[]
}

/** Reads what a watchdog judges a job by: one command. Undefined where the store has no such job. */
export async function readJobFacts(store: Store, name: string): Promise<JobFacts | undefined> {
  const reply = readReply(await store.job(name, 'alarm-facts', [MOST_SLOTS, MOST_KNOWN, MOST_DURATIONS]))
  if (reply.text() === 'unknown') return undefined
  const now = reply.number()
  reply.number()
  const [sinceAt, watermarkAt, image, target] = [reply.number(), reply.number(), reply.text(), reply.text()]
  const [registeredAt, dynamic, goneAt, renamedTo] = [
    reply.number(),
    reply.text() === '1',
    instant(reply),
    reply.text(),
  ]
  const [paused, pausedAt, untilAt, settings] = [reply.text(), instant(reply), instant(reply), parseJson(reply.text())]
  const unended = counted(reply, readUnended).toSorted((a, b) => a.at - b.at)
  const knownAt = counted(reply, () => parseSlotId(reply.text())?.at ?? 0)
  const gaps = counted(reply, () => ({ fromAt: reply.number(), toAt: reply.number() }))
  const durations = counted(reply, () => ({ at: reply.number(), durationMs: reply.number() }))
  return {
    ...{ name, now, sinceAt, watermarkAt, registeredAt, dynamic, goneAt, settings, unended, knownAt, gaps, durations },
    switching: image !== target,
    renamedTo: renamedTo === '' ? undefined : renamedTo,
    pause: paused === '' ? undefined : { state: paused === '1' ? 'paused' : 'resuming', at: pausedAt ?? 0, untilAt },
    knownInFull: knownAt.length < MOST_KNOWN,
  }
}

function readUnended(reply: Reply): UnendedSlot {
  const id = reply.text() as SlotId
  const [at, effectiveAt] = [reply.number(), reply.number()]
  const [state, cause] = [reply.text() as RunState, (reply.text() || 'on-time') as Cause]
  const [claimedAt, claimedBy, enqueuedAt] = [instant(reply), word(reply), instant(reply)]
  const [startedAt, startedBy, version, waits] = [instant(reply), word(reply), reply.number(), reply.text() === '1']
  const [planned, done] = [reply.number(), reply.number()]
  return {
    id,
    at,
    effectiveAt,
    state,
    cause,
    claimedAt,
    claimedBy,
    enqueuedAt,
    startedAt,
    startedBy,
    version,
    waits,
    planned,
    done,
  }
}

function word(reply: Reply): string | undefined {
  const text = reply.text()
  return text === '' ? undefined : text
}

/** An instant that may not have come; 0 stands for none as well. */
function instant(reply: Reply): number | undefined {
  const at = reply.number()
  return at > 0 ? at : undefined
}
