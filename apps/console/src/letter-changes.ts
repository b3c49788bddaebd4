import { type Clock, CronceError } from '@cronce/core'
import {
  discard,
  type LetterPlan,
  type LetterProgress,
  type LetterSelection,
  type Operator,
  redrive,
  type ServiceAccess,
  selectionText,
} from '@cronce/operations'
import { addressOf } from '@cronce/store'
import { errorAnswer } from './error-answer.ts'
import type { LetterChangeAnswer } from './letter-answers.ts'
import { tellStop } from './told-stop.ts'

export interface LetterChangeToStart {
  readonly verb: 'redrive' | 'discard'
  readonly selection: LetterSelection
  /** When the asker was shown what it comes to, by Redis; undefined: as of now. */
  readonly diedUntil: number | undefined
  readonly operator: Operator
  /** As it was typed, and as the least time between two, ms. */
  readonly rate: { readonly text: string; readonly intervalMs: number } | undefined
  /** Kept with what is discarded. */
  readonly note: string | undefined
  readonly abandoned: 'left' | 'too' | undefined
}

/** Those that are over and still told of. */
const MOST_TOLD = 20

/**
 * The changes of many dead letters that this console makes, one at a time; they go on when nobody looks. Nothing of them is in Redis but
 * what they did: after a restart the same again goes on with what is still open.
 */
export class LetterChanges {
  readonly #access: ServiceAccess
  readonly #clock: Clock
  #works: readonly Work[] = []
  #count = 0

  constructor(access: ServiceAccess, clock: Clock) {
    this.#access = access
    this.#clock = clock
  }

  /** Newest first. */
  all(): LetterChangeAnswer[] {
    return this.#works.map((work) => work.answer())
  }

  /**
   * Begins one, and answers as soon as it is known what it comes to.
   *
   * @throws CronceError CRONCE_CONSOLE_STALE where one is under way, or no named letter is open any more; and what `redrive` and
   *   `discard` throw
   */
  async start(request: LetterChangeToStart): Promise<LetterChangeAnswer> {
    const other = this.#works.find((work) => work.isUnderWay)
    if (other !== undefined) throw stale('the change', `not the next: a ${other.answer().verb} is under way`)
    this.#count += 1
    const work = new Work(this.#access, { ...request, clock: this.#clock, id: String(this.#count) })
    const before = this.#works
    this.#works = [work, ...before].slice(0, MOST_TOLD)
    try {
      const { entities, settled } = await work.planned
      const [first] = settled
      if (entities > 0 || first === undefined) return work.answer()
      throw stale(first.id, first.state)
    } catch (error) {
      this.#works = this.#works.filter((each) => each !== work)
      throw error
    }
  }

  /** Ends one between two scripts. What was queued goes on by itself. */
  async stop(id: string, operator: Operator): Promise<LetterChangeAnswer> {
    const work = this.#works.find((each) => each.id === id)
    if (work?.isUnderWay !== true) throw stale('the change', 'not under way')
    work.stop()
    const answer = work.answer()
    await tellStop(this.#access, { operator, action: answer.verb, selection: answer.selection })
    return answer
  }

  async close(): Promise<void> {
    for (const work of this.#works) work.stop()
    await Promise.all(this.#works.map((work) => work.over))
  }
}

function stale(id: string, state: string): CronceError {
  return new CronceError('CRONCE_CONSOLE_STALE', { id, state })
}

interface WorkRequest extends LetterChangeToStart {
  readonly id: string
  readonly clock: Clock
}

/** One change. */
class Work {
  readonly id: string
  /** What it comes to, or why it is refused. */
  readonly planned: Promise<LetterPlan>
  /** Settles at the end, never badly. */
  readonly over: Promise<void>
  readonly #request: WorkRequest
  readonly #startedAt: number
  readonly #stop = new AbortController()
  #isPlanned = false
  #total = 0
  #ended = 0
  #result: LetterChangeAnswer['result'] = null
  #error: string | undefined
  #endedAt: number | undefined

  constructor(access: ServiceAccess, request: WorkRequest) {
    const { id, clock } = request
    this.id = id
    this.#request = request
    this.#startedAt = clock.now()
    let onPlan: (plan: LetterPlan) => void = () => undefined
    let onRefused: (error: unknown) => void = () => undefined
    this.planned = new Promise((resolve, reject) => {
      onPlan = resolve
      onRefused = reject
    })
    const options = {
      ...{ signal: this.#stop.signal, clock, intervalMs: request.rate?.intervalMs },
      onPlan: (plan: LetterPlan) => {
        this.#isPlanned = true
        this.#total = plan.entities
        onPlan(plan)
      },
      onProgress: ({ ended }: LetterProgress) => void (this.#ended = ended),
    }
    this.over = this.#make(access, options).then(
      ({ entities, runs, unchanged, left }) => void (this.#result = { entities, runs, unchanged, left }),
      (error: unknown) => {
        const { body } = errorAnswer(error, { redisAddress: addressOf(access.store.redis) })
        this.#error = body.error.message
        if (this.#isPlanned) access.onFault?.(error, 'a change of dead letters failed')
        onRefused(error)
      },
    )
    void this.over.then(() => void (this.#endedAt = clock.now()))
  }

  get isUnderWay(): boolean {
    return this.#endedAt === undefined
  }

  stop(): void {
    this.#stop.abort()
  }

  answer(): LetterChangeAnswer {
    const { id, verb, operator, selection, rate, note } = this.#request
    return {
      ...{ id, verb, by: operator.name, selection: selectionText(selection), state: this.#state() },
      ...{ rate: rate?.text ?? null, note: note ?? null },
      ...{ startedAt: this.#startedAt, endedAt: this.#endedAt ?? null },
      ...{ ended: this.#ended, total: this.#total, result: this.#result, error: this.#error ?? null },
    }
  }

  #make(access: ServiceAccess, options: Pick<Parameters<typeof redrive>[1], 'onPlan' | 'onProgress' | 'signal'>) {
    const { verb, selection, diedUntil, operator, note = '', abandoned } = this.#request
    return verb === 'redrive'
      ? redrive(access, { ...options, selection, diedUntil, operator, abandoned, mode: 'redrive' })
      : discard(access, { ...options, selection, diedUntil, operator, reason: note, mode: 'discard' })
  }

  #state(): LetterChangeAnswer['state'] {
    if (this.#error !== undefined) return 'failed'
    if (this.#result !== null) return this.#result.left === 0 ? 'ended' : 'stopped'
    return this.#stop.signal.aborted ? 'stopping' : 'running'
  }
}
