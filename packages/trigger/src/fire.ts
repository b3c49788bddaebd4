import { randomUUID } from 'node:crypto'
import { type SlotId, type SlotKey, slotKeyOf } from '@cronce/core'
import { type ClaimAnswer, claimSlots, type DueSlot } from '@cronce/store'
import { cutBacklogOf, cutPauseOf, cutRestorationOf } from './cut.ts'
import { dueSlots, graceMs } from './due-slots.ts'
import { tellMemory } from './memory.ts'
import { registerCarried, switchGeneration } from './register.ts'
import type { TriggerContext } from './trigger-context.ts'
import { BACKLOG_PER_TICK } from './trigger-timing.ts'
import { moveOn, rewatch, type WatchedJob } from './watched-job.ts'

/** One of them. */
export interface ClaimedSlot {
  readonly id: SlotId
  readonly key: SlotKey
  readonly at: number
  /** Known once it is on the queue, where replicas trace. */
  readonly traceId?: string | undefined
}

/** The slots that this replica took of one job, to be enqueued and recorded. */
export interface Claimed {
  readonly job: WatchedJob
  readonly token: string
  readonly slots: readonly ClaimedSlot[]
  /** The complete part of the list the claim was made with: the watermark advances along it. */
  readonly list: readonly DueSlot[]
  readonly latenessMs: number
  /** When they were asked for, this clock. */
  readonly askedAt: number
}

/** What one try at a job came to. */
export interface Fired {
  readonly claimed: Claimed | undefined
  readonly lost: number
  /** When there is something of this job to be tried again here, Redis's time; undefined: at its next slot. */
  readonly again: number | undefined
}

/** A job is asked about anew when the store answers with another watermark or generation, or an outage was cut. */
const ROUNDS = 5

/** The pause between two backlog slots of one job, ms: a fleet that comes back does not storm. */
const BACKLOG_PAUSE_MS = 500

/** T1: tries everything of one job that is due. There is no "should I?". */
export async function fireJob(context: TriggerContext, name: string): Promise<Fired> {
  for (let round = 0; round < ROUNDS; round++) {
    const job = context.jobs.get(name)
    if (job === undefined) return NOTHING
    const now = context.redisClock.now()
    const grace = graceMs(job.settings.schedule, context.timing, now)
    const { watermarkAt, sinceAt, spreadMs, goneAt } = job
    const due = { schedule: job.settings.schedule, watermarkAt, sinceAt, spreadMs, goneAt, now }
    const { slots: list, complete } = dueSlots(due)
    const token = randomUUID()
    const askedAt = context.clock.now()
    const answer = await claimSlots(context.store, {
      job: name,
      slots: list,
      complete,
      queue: job.settings.queue,
      version: job.settings.version,
      generation: job.generation,
      watermarkAt: job.watermarkAt,
      token,
      leaseMs: context.timing.claimLeaseMs,
      graceMs: grace,
      backlog: BACKLOG_PER_TICK,
      overlap: job.settings.overlap,
      timeoutMs: job.settings.timeoutMs,
      expireMs: job.settings.expireMs ?? 0,
      replica: context.replica,
      release: context.release,
    })
    context.redisClock.learn(answer.now, askedAt)
    if (answer.status === 'restoring') return { ...NOTHING, again: answer.now + BACKLOG_PAUSE_MS }
    if (answer.status === 'paused') return await pausedUntil(context, job, answer.now)
    if (answer.status !== 'ok') {
      await catchUpWithStore(context, job, answer)
      if (answer.status === 'gone' && context.jobs.get(name)?.goneAt !== undefined) return NOTHING
      continue
    }
    job.watermarkAt = answer.watermarkAt
    const fired = tellVerdicts(context, { job, token, list, complete, answer, askedAt })
    // What the list left out may be old as well.
    const old = complete < list.length || answer.slots.some(({ verdict }) => verdict === 'old')
    // The cut admits or drops them; what it admits is claimed in the next round.
    if (old && fired.claimed === undefined) {
      if (await cutBacklogOf(context, job, { graceMs: grace })) continue
      return fired
    }
    return old ? { ...fired, again: answer.now } : fired
  }
  return { ...NOTHING, again: context.redisClock.now() + BACKLOG_PAUSE_MS }
}

const NOTHING: Fired = { claimed: undefined, lost: 0, again: undefined }

/** T10: nothing starts. The slots stay unrecorded until the resume cuts them; the job is asked about again at its next slot. */
async function pausedUntil(context: TriggerContext, job: WatchedJob, now: number): Promise<Fired> {
  // Who paused it may have died before he told anybody when it ends.
  const known = job.pause === undefined ? ((await rewatch(context, job.name)) ?? job) : job
  moveOn(context, known, now - known.spreadMs)
  return { ...NOTHING, again: known.pause?.untilAt }
}

/** The store stands otherwise than this replica thinks: learns how, and does what is to be done first. */
async function catchUpWithStore(context: TriggerContext, job: WatchedJob, answer: ClaimAnswer): Promise<void> {
  switch (answer.status) {
    case 'stale':
      // S2: a generation's watermark never goes back, unless acknowledged writes were lost.
      if (answer.generation <= job.generation && answer.watermarkAt < job.watermarkAt)
        await tellMemory(context, job, 'lower watermark')
      else await rewatch(context, job.name)
      return
    case 'switching':
      await switchGeneration(context, job.name)
      return
    case 'resuming':
      await cutPauseOf(context, job.name)
      return
    case 'restored':
      await cutRestorationOf(context, job.name)
      return
    case 'unknown':
      await tellMemory(context, job, 'new epoch')
      return
    case 'gone':
      await returnCarried(context, job.name)
      return
    case 'ok':
    case 'paused':
    case 'restoring':
  }
}

/** T8: a job that the store dated as gone is registered again by whoever carries it. */
async function returnCarried(context: TriggerContext, name: string): Promise<void> {
  const carried = context.carried.find((settings) => settings.name === name)
  if (carried === undefined) await rewatch(context, name)
  else await registerCarried(context, carried)
}

function tellVerdicts(
  context: TriggerContext,
  round: Pick<Claimed, 'job' | 'token' | 'list' | 'askedAt'> & { complete: number; answer: ClaimAnswer },
): Fired {
  const { job, token, list, complete, answer, askedAt } = round
  const effective = new Map(list.map((slot) => [slot.id, slot.effectiveAt]))
  const slots: ClaimedSlot[] = []
  let lost = 0
  let latenessMs = 0
  let again: number | undefined
  for (const slot of answer.slots) {
    if (slot.verdict === 'claimed') {
      const key = slotKeyOf({ job: job.name, id: slot.id })
      slots.push({ id: slot.id, key, at: slot.at })
      latenessMs = Math.max(0, answer.now - (effective.get(slot.id) ?? slot.at))
      context.events.emit('slot.claimed', { slot: key, latenessMs })
    } else if (slot.verdict === 'held') {
      lost += 1
      // T4: not tried before that lease ends; the sweep after it asks.
      if (slot.at > job.triedAt)
        context.events.emit('slot.lost', { slot: slotKeyOf({ job: job.name, id: slot.id }), by: slot.by })
    } else if (slot.verdict === 'recorded' && slot.at > job.triedAt) {
      lost += 1
      context.events.emit('slot.lost', { slot: slotKeyOf({ job: job.name, id: slot.id }), by: 'another replica' })
    } else if (slot.verdict === 'skipped' || slot.verdict === 'waiting') {
      context.events.emit('slot.held-up', { slot: slotKeyOf({ job: job.name, id: slot.id }), verdict: slot.verdict })
    } else if (slot.verdict === 'later') {
      again = answer.now + BACKLOG_PAUSE_MS
    } else if (slot.verdict === 'early' && slot.at <= answer.now) {
      again = Math.min(again ?? Number.POSITIVE_INFINITY, effective.get(slot.id) ?? answer.now + BACKLOG_PAUSE_MS)
    }
  }
  // A1: a slot that Redis calls early was asked for by a clock that is ahead; it stays untried.
  const early = answer.slots.find(({ verdict, id }) => verdict === 'early' && effective.has(id))
  const tried = list.filter(({ at }) => early === undefined || at < early.at).at(-1)
  if (tried !== undefined) moveOn(context, job, tried.at)
  if (early !== undefined) again = effective.get(early.id)
  return {
    claimed: slots.length === 0 ? undefined : { job, token, slots, list: list.slice(0, complete), latenessMs, askedAt },
    lost,
    again,
  }
}
