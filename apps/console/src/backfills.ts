import { type Clock, CronceError } from '@cronce/core'
import {
  type BackfillPlan,
  type BackfillProgress,
  type BackfillResult,
  backfill,
  type Operator,
  type ServiceAccess,
} from '@cronce/operations'
import { addressOf } from '@cronce/store'
import { errorAnswer } from './error-answer.ts'
import type { BackfillAnswer, BackfillPlanAnswer } from './job-answers.ts'
import { tellStop } from './told-stop.ts'

export interface BackfillToStart {
  readonly job: string
  readonly fromAt: number
  readonly toAt: number
  readonly operator: Operator
  readonly why: string | undefined
  /** Least time between two starts, ms. */
  readonly intervalMs: number
  /** How many the asker was shown that would run; undefined: none was shown. */
  readonly expected: number | undefined
}

/** Slots that a plan names; the rest is counted. */
const MOST_NAMED = 20

/** Backfills under way in one console. */
const MOST_AT_ONCE = 10

/** Those that are over and still told of. */
const MOST_TOLD = 200

/**
 * The backfills that this console runs, one of a job at a time. Nothing of them is in Redis but the slots that they ran: after a
 * restart the same range again goes on where it stopped (T11).
 */
export class Backfills {
  readonly #access: ServiceAccess
  readonly #clock: Clock
  readonly #works = new Map<string, Work>()

  constructor(access: ServiceAccess, clock: Clock) {
    this.#access = access
    this.#clock = clock
  }

  /** What is known of the last one of a job. */
  of(job: string): BackfillAnswer | undefined {
    return this.#works.get(job)?.answer()
  }

  /**
   * Begins one, and answers as soon as its plan is known.
   *
   * @throws CronceError CRONCE_CONSOLE_STALE where one of the job is under way, or other slots would run than were shown; and what `planBackfill` throws
   */
  async start(request: BackfillToStart): Promise<BackfillAnswer> {
    const { job } = request
    const under = [...this.#works.values()].filter((work) => work.isUnderWay)
    if (under.some((work) => work.job === job)) throw stale(job, 'being backfilled')
    if (under.length >= MOST_AT_ONCE) throw stale(job, `not the next: ${MOST_AT_ONCE} backfills are under way`)
    const work = new Work(this.#access, { ...request, clock: this.#clock })
    const before = this.#works.get(job)
    this.#works.set(job, work)
    try {
      await work.planned
    } catch (error) {
      // What was refused does not hide what there was before it.
      if (before === undefined) this.#works.delete(job)
      else this.#works.set(job, before)
      throw error
    }
    this.#forget()
    return work.answer()
  }

  /** Ends one between two slots. What was started goes on by itself. */
  async stop(job: string, operator: Operator): Promise<BackfillAnswer> {
    const work = this.#works.get(job)
    if (work?.isUnderWay !== true) throw stale(job, 'not being backfilled')
    work.stop()
    const answer = work.answer()
    await tellStop(this.#access, { operator, action: 'backfill', job, selection: work.selection })
    return answer
  }

  async close(): Promise<void> {
    const works = [...this.#works.values()]
    for (const work of works) work.stop()
    await Promise.all(works.map((work) => work.over))
  }

  #forget(): void {
    const over = [...this.#works].filter(([, work]) => !work.isUnderWay)
    for (const [job] of over.slice(0, Math.max(0, this.#works.size - MOST_TOLD))) this.#works.delete(job)
  }
}

function stale(id: string, state: string): CronceError {
  return new CronceError('CRONCE_CONSOLE_STALE', { id, state })
}

/** The plan that runs is the one that was shown, or none is. */
function refuseOther({ job, toRun }: BackfillPlan, expected: number | undefined): void {
  if (expected === undefined || toRun.length === expected) return
  throw stale(job, `another range: ${toRun.length} slots would run, not ${expected}`)
}

/** One backfill. */
class Work {
  readonly job: string
  /** Settles when the plan is known, or is refused. */
  readonly planned: Promise<void>
  /** Settles at the end, never badly. */
  readonly over: Promise<void>
  readonly #request: BackfillToStart & { readonly clock: Clock }
  readonly #startedAt: number
  readonly #stop = new AbortController()
  #plan: BackfillPlan | undefined
  #progress: BackfillProgress | undefined
  #result: BackfillResult | undefined
  #error: string | undefined
  #endedAt: number | undefined

  constructor(access: ServiceAccess, request: BackfillToStart & { readonly clock: Clock }) {
    const { job, clock } = request
    this.job = job
    this.#request = request
    this.#startedAt = clock.now()
    let onPlanned: () => void = () => undefined
    let onRefused: (error: unknown) => void = () => undefined
    this.planned = new Promise((resolve, reject) => {
      onPlanned = resolve
      onRefused = reject
    })
    this.over = backfill(access, {
      ...request,
      release: 'console',
      signal: this.#stop.signal,
      onPlan: (found) => {
        refuseOther(found, request.expected)
        this.#plan = found
        onPlanned()
      },
      onProgress: (progress) => void (this.#progress = progress),
    }).then(
      (result) => void (this.#result = result),
      (error: unknown) => {
        const { body } = errorAnswer(error, { redisAddress: addressOf(access.store.redis) })
        this.#error = body.error.message
        if (this.#plan !== undefined) access.onFault?.(error, 'a backfill failed')
        onRefused(error)
      },
    )
    void this.over.then(() => void (this.#endedAt = clock.now()))
  }

  /** As the journal says it of the backfill itself. */
  get selection(): string {
    const { fromAt, toAt } = this.#request
    return `${new Date(fromAt).toISOString()} to ${new Date(toAt).toISOString()}`
  }

  get isUnderWay(): boolean {
    return this.#endedAt === undefined
  }

  stop(): void {
    this.#stop.abort()
  }

  answer(): BackfillAnswer {
    const { operator, why, intervalMs } = this.#request
    const { ended = 0, total = this.#plan?.toRun.length ?? 0, slot, state: standing = '' } = this.#progress ?? {}
    return {
      plan: planAnswer(this.#plan ?? { ...this.#request, slots: 0, toRun: [], done: 0, underWay: 0, refused: [] }),
      ...{ by: operator.name, why: why ?? null, intervalMs, ended, total, standing },
      ...{ startedAt: this.#startedAt, endedAt: this.#endedAt ?? null, state: this.#state() },
      slot: slot ?? null,
      ran: this.#result?.ran ?? {},
      elsewhere: this.#result?.elsewhere ?? 0,
      error: this.#error ?? null,
    }
  }

  #state(): BackfillAnswer['state'] {
    if (this.#error !== undefined) return 'failed'
    if (this.#result !== undefined) return this.#result.left === 0 ? 'ended' : 'stopped'
    return this.#stop.signal.aborted ? 'stopping' : 'running'
  }
}

export function planAnswer(plan: BackfillPlan): BackfillPlanAnswer {
  const { job, fromAt, toAt, slots, toRun, done, underWay, refused } = plan
  const first = toRun.slice(0, MOST_NAMED).map(({ slot }) => slot)
  return { ...{ job, fromAt, toAt, slots, done, underWay, refused, first }, toRun: toRun.length }
}
