import type { DueSlot } from './claims.ts'
import { readReply } from './reply.ts'
import type { ScriptArgument, Store } from './store.ts'

/** Slots that did not run for one reason: those in (fromAt, toAt]. */
export interface Gap {
  readonly fromAt: number
  readonly toAt: number
  readonly count: number
  readonly state: 'missed' | 'skipped' | 'abandoned'
  readonly reason: string
}

export interface CutRequest {
  readonly job: string
  readonly generation: number
  readonly watermarkAt: number
  /** The instant the cut reaches to. */
  readonly toAt: number
  /** How many ledger entries in (watermark, to] and gaps after the watermark the caller reckoned with. */
  readonly known: number
  readonly cause: 'late' | 'catch-up'
  readonly by: string
  /** What this cut ends, beside an outage. */
  readonly ends: 'resume' | 'restore' | 'restore-skip' | ''
  readonly gaps: readonly Gap[]
  readonly admitted: readonly DueSlot[]
}

export interface CutAnswer {
  readonly status: 'ok' | 'stale'
  readonly now: number
  readonly watermarkAt: number
  readonly generation: number
}

/** T5: the cut, once per outage. */
export async function cutBacklog(store: Store, request: CutRequest): Promise<CutAnswer> {
  const { generation, watermarkAt, toAt, known, cause, by, ends, gaps, admitted } = request
  const gapArguments = gaps.flatMap((gap): ScriptArgument[] => [gap.fromAt, gap.toAt, gap.count, gap.state, gap.reason])
  const head = [generation, watermarkAt, toAt, known, cause, by, ends, gaps.length]
  const args = [...head, ...gapArguments, ...admitted.flatMap(slotArguments)]
  const reply = readReply(await store.job(request.job, 'cut', args))
  return {
    status: reply.text() as CutAnswer['status'],
    now: reply.number(),
    watermarkAt: reply.number(),
    generation: reply.number(),
  }
}

export interface CloseRequest {
  readonly job: string
  readonly generation: number
  /** The instant the list reaches to, a little past now. */
  readonly toAt: number
  readonly graceMs: number
  readonly by: string
  /** The old schedule's slots after max(watermark, its start). */
  readonly slots: readonly DueSlot[]
}

export interface CloseAnswer {
  readonly status: 'closed' | 'stale' | 'short' | 'old'
  readonly now: number
  readonly watermarkAt: number
  readonly generation: number
}

/** T7: closes the generation in force and opens the newest image's. */
export async function closeGeneration(store: Store, request: CloseRequest): Promise<CloseAnswer> {
  const { generation, toAt, graceMs, by, slots } = request
  const reply = readReply(
    await store.job(request.job, 'close', [generation, toAt, graceMs, by, ...slots.flatMap(slotArguments)]),
  )
  return {
    status: reply.text() as CloseAnswer['status'],
    now: reply.number(),
    watermarkAt: reply.number(),
    generation: reply.number(),
  }
}

function slotArguments(slot: DueSlot): ScriptArgument[] {
  return [slot.id, slot.at, slot.effectiveAt]
}
