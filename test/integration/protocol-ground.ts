import {
  cron,
  defineJob,
  formatDeadLetterId,
  formatDoneLetterId,
  formatSlotId,
  formatSlotKey,
  type JobDefinition,
  type OverlapPolicy,
  parseSlotId,
  type SlotId,
} from '@cronce/core'
import { type Audit, auditService } from '@cronce/operations'
import {
  type ClaimAnswer,
  type ClaimVerdict,
  claimSlots,
  type DueSlot,
  jobKey,
  type MemberFailure,
  type PlanStart,
  type RunRef,
  readJob,
  recordSlots,
  type Settled,
  type Store,
  settleChunk,
  startChunk,
  startPlan,
  writePage,
} from '@cronce/store'
import type { Trigger } from '@cronce/trigger'
import { type Fleet, NOON } from '../support/fleet.ts'

export const MINUTE = 60_000
export const SECOND = 1_000

/** The job of these tests, due every minute after noon. */
export function minutely(extra: object = {}): JobDefinition {
  return defineJob({
    name: 'job',
    schedule: cron('* * * * *'),
    onCrash: 'complete',
    overlap: 'allow',
    catchUp: { mode: 'late', within: '12h', atMost: 2 },
    ...extra,
  })
}

/** The instant of the n-th slot of {@link minutely}. */
export const slotAt = (minute: number): number => NOON + minute * MINUTE
export const idAt = (minute: number): SlotId => formatSlotId(slotAt(minute))
export const runAt = (minute: number, job = 'job'): RunRef => ({ job, id: idAt(minute) })
export const dueAt = (minute: number): DueSlot => ({
  id: idAt(minute),
  at: slotAt(minute),
  effectiveAt: slotAt(minute),
})

export const WORKER = { worker: 'w', release: 'r' }

/** A key of a job's records. */
export const keyOf = (store: Store, suffix: string, job = 'job'): string => `${jobKey(store.service, job)}:${suffix}`

export interface ClaimOptions {
  readonly job?: string
  readonly token?: string
  readonly overlap?: OverlapPolicy
  readonly graceMs?: number
  readonly watermarkAt?: number
}

/** Claims the slots of these minutes as a replica does that knows all there is to know. */
export async function claim(
  store: Store,
  minutes: readonly number[],
  options: ClaimOptions = {},
): Promise<ClaimAnswer> {
  const { job = 'job', token = 'token', overlap = 'allow', graceMs = 20 * SECOND } = options
  const stored = await readJob(store, job)
  const slots = minutes.map(dueAt)
  const place = { queue: 'default', version: 1, replica: 'a', release: 'r' }
  const rules = { overlap, graceMs, backlog: 1, leaseMs: 10 * SECOND, timeoutMs: MINUTE, expireMs: 0 }
  return await claimSlots(store, {
    ...{ ...place, ...rules, job, slots, complete: slots.length, token },
    generation: stored?.generation ?? 0,
    watermarkAt: options.watermarkAt ?? stored?.watermarkAt ?? 0,
  })
}

export function verdictsOf({ slots }: ClaimAnswer): ClaimVerdict['verdict'][] {
  return slots.map(({ verdict }) => verdict)
}

/** Claims and records them: they are on the queue, for all that the ledger knows. */
export async function enqueue(store: Store, minutes: readonly number[], options: ClaimOptions = {}): Promise<void> {
  const { job = 'job' } = options
  await claim(store, minutes, options)
  const request = {
    job,
    added: minutes.map((minute) => ({ id: idAt(minute) })),
    replica: 'a',
    markerMs: MINUTE,
    foreign: false,
  }
  await recordSlots(store, { ...request, queue: 'default', version: 1, slots: minutes.map(dueAt) })
}

export function start(store: Store, run: RunRef, { hasDone = false } = {}): Promise<PlanStart> {
  return startPlan(store, run, { ...WORKER, at: parseSlotId(run.id)?.at ?? 0, hasDone, mostOpenChunks: 40 })
}

export interface PlanOptions {
  /** Entity keys of each. */
  readonly pages: readonly (readonly string[])[]
  /** Whether the last page ends the plan. Default: true. */
  readonly complete?: boolean
  readonly hasDone?: boolean
}

/** Starts a run and plans these pages, each a chunk. Answers the plan's fence. */
export async function plan(
  store: Store,
  run: RunRef,
  { pages, complete = true, hasDone = false }: PlanOptions,
): Promise<number> {
  const { fence } = await start(store, run, { hasDone })
  for (const [index, keys] of pages.entries()) {
    const members = keys.map((key) => ({ key, payload: JSON.stringify({ key }) }))
    const last = complete && index === pages.length - 1
    await writePage(store, run, { fence, after: index === 0 ? '' : `c${index}`, next: `c${index + 1}`, last, members })
  }
  return fence
}

/** Runs a run that is on the queue to its end; it has no entities. */
export async function finish(store: Store, run: RunRef): Promise<void> {
  await plan(store, run, { pages: [[]] })
}

/** A worker's hold of a chunk. */
export interface Hold {
  readonly fence: number
  settle(outcome: { done?: readonly number[]; failures?: readonly MemberFailure[] }): Promise<Settled>
}

export async function hold(store: Store, run: RunRef, number = 0): Promise<Hold> {
  const { fence } = await startChunk(store, run, { number, worker: WORKER.worker, token: `hold-${number}` })
  return {
    fence,
    settle: ({ done = [], failures = [] }) =>
      settleChunk(store, run, {
        ...{ ...WORKER, number, fence, done, failures },
        ...{ started: [], alone: false, handBack: false },
      }),
  }
}

export interface Death {
  readonly entity: string
  readonly reason?: string
}

/** The end of an entity that used up its attempts. */
export function died(run: RunRef, index: number, { entity, reason = 'failed' }: Death): MemberFailure {
  return {
    ...{ index, verdict: 'dead', attempts: 1, nextAttemptAt: 0, error: '{"message":"no"}', reason, entity },
    ...{ deadLetterId: letterOf(run, entity), payload: JSON.stringify({ key: entity }) },
  }
}

const slotOf = ({ job, id }: RunRef) => formatSlotKey({ job, ...(parseSlotId(id) ?? { at: 0 }) })
export const letterOf = (run: RunRef, entity?: string): string => formatDeadLetterId(slotOf(run), entity)
export const doneLetterOf = (run: RunRef): string => formatDoneLetterId(slotOf(run))

/** States of a job's slots by their minute, oldest first. */
export async function statesOf(fleet: Fleet, job = 'job'): Promise<string[]> {
  return (await fleet.slots(job)).map(({ at, state }) => `${(at - NOON) / MINUTE} ${state}`)
}

/** Expected, recorded, missing, double, unexpected: of the slots from noon on. */
export async function audited({ store, clock }: Fleet): Promise<number[]> {
  const audit: Audit = await auditService(store, { fromAt: NOON, toAt: clock.now() + 1 })
  return [audit.expected, audit.recorded, audit.missing, audit.double, audit.unexpected]
}

/** Lets whole minutes pass, with a tick at each and no sweep. */
export async function tickMinutes(fleet: Fleet, minutes: number): Promise<void> {
  for (let minute = 0; minute < minutes; minute++) {
    fleet.clock.advance(MINUTE)
    await fleet.tick()
  }
}

/**
 * Leaves a job whose watermark one waiting slot holds: an outage of two minutes was caught up, the older run is on the queue and
 * does not start, and the newer waits for it. It is three minutes past noon.
 */
export async function holdWatermark(
  fleet: Fleet,
  job: JobDefinition,
): Promise<{ readonly replica: Trigger; readonly running: RunRef; readonly waiting: RunRef }> {
  await fleet.leave(await fleet.join('first', [job]))
  fleet.clock.advance(2 * MINUTE + 30 * SECOND)
  const replica = await fleet.join('second', [job])
  await fleet.advance(30 * SECOND, 15 * SECOND)
  return { replica, running: runAt(1, job.name), waiting: runAt(2, job.name) }
}
