import { type Clock, CronceError, isCronceError, RUN_STATES, type RunState, waitFor } from '@cronce/core'
import { readJob, readSlot } from '@cronce/store'
import type { ServiceAccess } from './access.ts'
import { type BackfillPlan, type BackfillRange, type BackfillSlot, planBackfill } from './backfill-plan.ts'
import { authorize, type Operator } from './operator.ts'
import { Pace } from './pace.ts'
import { type AskedAction, recordAction } from './record-action.ts'
import { LONGEST_NOTE, requireText } from './request-faults.ts'
import { type OwnedJob, requireOwnedJob } from './slot-owners.ts'
import { takeSlot } from './take-slot.ts'

export interface BackfillRequest extends BackfillRange {
  readonly operator: Operator
  readonly why?: string | undefined
  /** The release that asks. Default: none. */
  readonly release?: string | undefined
  /** The least time between two starts, ms. Default: none; each waits for the end of the one before it all the same. */
  readonly intervalMs?: number | undefined
  readonly clock: Clock
  /** Ends the backfill after the script in hand; what was started goes on by itself. */
  readonly signal?: AbortSignal | undefined
  /** Told what is to be done, before any of it is. */
  readonly onPlan?: ((plan: BackfillPlan) => void) | undefined
  /** Told at every look at the slot in hand, and at the end. */
  readonly onProgress?: ((progress: BackfillProgress) => void) | undefined
}

export interface BackfillProgress {
  /** Slots of the plan that have ended. */
  readonly ended: number
  readonly total: number
  /** The slot in hand; undefined at the end. */
  readonly slot: string | undefined
  /** Its state, or what it waits for. */
  readonly state: string
}

export interface BackfillResult {
  readonly plan: BackfillPlan
  /** Slots that this call started and that have ended, by the state they ended in. */
  readonly ran: Readonly<Partial<Record<RunState, number>>>
  /** Slots of the plan that another took meanwhile: a backfill beside this one, an operator. */
  readonly elsewhere: number
  /** Slots of the plan that have not ended: it was told to stop. The same call again runs them. */
  readonly left: number
}

/** How often the slot in hand is looked at, ms. */
const LOOK_EVERY_MS = 250

/**
 * T11: runs the slots of a range that never ran, oldest first, one after another. Each is taken through the claim and the record that
 * any slot has, so nothing runs twice: not when this is killed and called again, not when two do it at once.
 *
 * @throws CronceError as {@link planBackfill}; CRONCE_SLOT_MOVED, CRONCE_NOT_ALLOWED
 */
export async function backfill(access: ServiceAccess, request: BackfillRequest): Promise<BackfillResult> {
  const by = authorize(request.operator, 'backfill')
  const why = request.why === undefined ? undefined : requireText('why', request.why, LONGEST_NOTE)
  const { job, fromAt, toAt } = request
  const plan = await planBackfill(access.store, { job, fromAt, toAt })
  request.onPlan?.(plan)
  const asked: AskedAction = {
    ...{ operator: request.operator, action: 'backfill', job, note: why },
    selection: `${new Date(fromAt).toISOString()} to ${new Date(toAt).toISOString()}`,
    slots: plan.toRun.map(({ slot }) => slot),
  }
  return await recordAction(access, asked, async () => {
    const work = new Backfill(access, { ...request, plan, by, why })
    const answer = await work.run()
    const { ran, elsewhere, left } = answer
    if (work.started === 0) return { answer, end: 'unchanged' }
    return { answer, end: { result: left === 0 ? 'ended' : 'stopped', counts: { ...ran, elsewhere, left } } }
  })
}

type Work = Omit<BackfillRequest, 'operator'> & { readonly plan: BackfillPlan; readonly by: string }

/** One backfill under way. */
class Backfill {
  readonly #access: ServiceAccess
  readonly #work: Work
  readonly #signal: AbortSignal
  readonly #pace: Pace
  readonly #ran: Partial<Record<RunState, number>> = {}
  #elsewhere = 0
  #started = 0
  #ended = 0

  constructor(access: ServiceAccess, work: Work) {
    this.#access = access
    this.#work = work
    this.#signal = work.signal ?? new AbortController().signal
    this.#pace = new Pace({ intervalMs: work.intervalMs ?? 0, clock: work.clock })
  }

  /** Slots that this call put on the queue, ended or not. */
  get started(): number {
    return this.#started
  }

  async run(): Promise<BackfillResult> {
    const { plan } = this.#work
    for (const slot of plan.toRun) {
      await this.#runSlot(slot)
      if (this.#signal.aborted) break
    }
    const left = plan.toRun.length - this.#ended
    this.#tell(undefined, left === 0 ? 'ended' : 'stopped')
    return { plan, ran: this.#ran, elsewhere: this.#elsewhere, left }
  }

  async #runSlot(slot: BackfillSlot): Promise<void> {
    const { restMs } = this.#pace
    if (restMs > 0) this.#tell(slot, 'waits for its turn')
    await this.#wait(restMs)
    const taken = await this.#take(slot)
    if (taken === undefined) return
    const state = taken === 'done' ? 'succeeded' : await this.#waitForEnd(slot)
    if (state === undefined) return
    this.#ended += 1
    if (taken === 'here') this.#ran[state] = (this.#ran[state] ?? 0) + 1
    else this.#elsewhere += 1
  }

  /** Takes the slot, or finds that another has; undefined where it was told to stop first. */
  async #take(slot: BackfillSlot): Promise<'here' | 'busy' | 'done' | undefined> {
    const { by, release = '', why } = this.#work
    while (!this.#signal.aborted) {
      const job = await this.#jobThatStarts(slot)
      if (job === undefined) continue
      const { id, at, owner } = slot
      const hand = { by, release, why, cause: 'backfill' as const }
      const { status, blocker } = await takeSlot(this.#access, { job, owner, id, at, ...hand })
      if (status === 'claimed') {
        this.#pace.took()
        this.#started += 1
        return 'here'
      }
      if (status === 'busy' || status === 'done') return status
      if (status !== 'later') throw new CronceError('CRONCE_SLOT_MOVED', { slot: slot.slot })
      // T9: one after another, whatever the policy.
      this.#tell(slot, `waits for ${blocker}`)
      await this.#wait(LOOK_EVERY_MS)
    }
    return undefined
  }

  /** The job as it is now; undefined while it is paused. */
  async #jobThatStarts(slot: BackfillSlot): Promise<OwnedJob | undefined> {
    const { store } = this.#access
    const { job } = this.#work
    try {
      return await requireOwnedJob(store, job)
    } catch (error) {
      const pause = (await readJob(store, job))?.pause
      if (!isCronceError(error, 'CRONCE_JOB_HELD') || pause === undefined) throw error
      this.#tell(slot, `waits: the job is paused by ${pause.by}`)
      await this.#wait(LOOK_EVERY_MS)
      return undefined
    }
  }

  /** The state that the slot ends in; undefined where it was told to stop first. */
  async #waitForEnd(slot: BackfillSlot): Promise<RunState | undefined> {
    while (!this.#signal.aborted) {
      const [entry, stored] = await Promise.all([
        readSlot(this.#access.store, this.#work.job, slot.id),
        readJob(this.#access.store, this.#work.job),
      ])
      // Folded between two looks: nothing of it is a dead letter.
      const state = entry?.state ?? 'succeeded'
      const phase = RUN_STATES[state]
      if (phase === 'ended' || phase === 'dropped') return state
      if (state === 'enqueued' && isForeign(stored?.settings)) return state
      this.#tell(slot, state)
      await this.#wait(LOOK_EVERY_MS)
    }
    return undefined
  }

  #wait(delayMs: number): Promise<void> {
    return waitFor(delayMs, { clock: this.#work.clock, signal: this.#signal })
  }

  #tell(slot: BackfillSlot | undefined, state: string): void {
    const { onProgress, plan } = this.#work
    onProgress?.({ ended: this.#ended, total: plan.toRun.length, slot: slot?.slot, state })
  }
}

/** A job of a plain BullMQ worker ends, for us, on its queue. */
function isForeign(settings: unknown): boolean {
  return typeof settings === 'object' && settings !== null && 'enqueue' in settings
}
