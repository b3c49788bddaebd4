import { CronceError } from '@cronce/core'
import type { AttemptScope } from './attempt.ts'
import { type AttemptEnd, AttemptPool } from './attempt-pool.ts'
import { ChunkAttempt, type ValidMember } from './chunk-attempt.ts'
import type { ChunkMode } from './chunk-decisions.ts'
import type { ChunkOutcomes } from './chunk-outcomes.ts'
import type { MemberQueue } from './member-queue.ts'
import type { TaskInHand } from './run-progress.ts'
import type { StartAllowance } from './start-allowance.ts'
import { describeRedacted } from './thrown-value.ts'

export interface BulkOptions {
  readonly scope: AttemptScope
  readonly mode: ChunkMode
  readonly queue: MemberQueue
  readonly outcomes: ChunkOutcomes
  readonly allowance: StartAllowance
  /** Redis's time. */
  readonly now: () => number
  /** Whether entities may still start. */
  readonly mayStart: () => boolean
  /** Another worker has the chunk: nothing more is written here. */
  readonly isLost: () => boolean
}

/** The call of `eachChunk` in one hold of a chunk: with all of its entities that are due and have not failed. */
export class ChunkBulk {
  readonly #inHand: TaskInHand
  readonly #options: BulkOptions
  readonly #pool: AttemptPool<ChunkAttempt>
  #onEnd: (end: AttemptEnd) => void = () => undefined

  constructor(inHand: TaskInHand, options: BulkOptions) {
    const { handler, context } = inHand
    this.#inHand = inHand
    this.#options = options
    this.#pool = new AttemptPool({
      clock: context.clock,
      timeoutMs: handler.job.timeoutMs,
      read: ({ valid }) => valid.map(({ entity }) => entity),
      call: (entities, attempt) => handler.eachChunk?.(entities as readonly unknown[], attempt),
      onEnd: (_, end) => this.#onEnd(end),
    })
  }

  abort(why: CronceError): void {
    this.#pool.abort(why)
  }

  drop(why: CronceError): void {
    this.#pool.drop(why)
  }

  /**
   * Calls it, and writes down what became of its entities: done, put off together, or back in the queue, to be worked on one by one.
   * After a crash there is no such call: whose fault it was could not be told (W6).
   */
  async run(): Promise<void> {
    const { queue, mode, now, outcomes, scope, isLost, allowance, mayStart } = this.#options
    const { handler, context } = this.#inHand
    if (handler.eachChunk === undefined || mode === 'watched') return
    const valid = this.#validate(queue.takeUntroubled(now()))
    if (valid.length === 0) return
    // They start together, so the rate is kept by the calls that follow.
    if ((await allowance.grant(valid.length, true)) === 0 || !mayStart()) {
      for (const { member } of valid) queue.putBack(member)
      return
    }
    if (mode === 'marked') {
      // W5: the durable mark of every one of them, before the handler.
      const settled = await outcomes.flush(valid.map(({ member }) => member.index))
      if (settled.status !== 'open') return
    }
    const attempt = new ChunkAttempt(scope, valid, (entity) => handler.shape.key(entity))
    const end = await new Promise<AttemptEnd>((resolve) => {
      this.#onEnd = resolve
      this.#pool.start(attempt)
      if (context.shutdown.phase === 'aborting') this.#pool.drop(new CronceError('CRONCE_SHUTDOWN'))
    })
    if (!isLost()) this.#settle(valid, end)
  }

  #validate(members: ReturnType<MemberQueue['takeUntroubled']>): ValidMember[] {
    const { shape } = this.#inHand.handler
    const valid: ValidMember[] = []
    for (const member of members) {
      try {
        valid.push({ member, entity: shape.parse(member.payload) })
      } catch (thrown) {
        this.#options.outcomes.record({ member, attempt: member.attempts + 1 }, { kind: 'invalid', thrown })
      }
    }
    return valid
  }

  #settle(valid: readonly ValidMember[], end: AttemptEnd): void {
    const { outcomes, queue, now } = this.#options
    // One instant for all: those put off are due together again.
    const at = now()
    if (end.kind === 'done' || end.kind === 'aborted' || this.#isForAll(end)) {
      for (const { member } of valid) {
        const left = outcomes.record({ member, attempt: member.attempts + 1 }, end, at)
        if (left !== undefined) queue.putBack(left)
      }
      return
    }
    for (const { member } of valid) queue.putBack(outcomes.fallBack(member, end.thrown))
    const { context, slot, task } = this.#inHand
    const payloads = valid.map(({ member }) => member.payload)
    const error = describeRedacted(end.thrown, { payloads, redact: this.#inHand.handler.job.redact })
    context.events.emit('chunk.fell-back', { slot, chunk: task.number, entities: valid.length, error })
  }

  /** Whether it failed for each of them. What else was thrown may be the fault of one. */
  #isForAll({ kind, thrown }: { kind: 'thrown' | 'timeout' | 'invalid'; thrown: unknown }): boolean {
    if (kind === 'timeout') return this.#inHand.handler.job.onCrash === 'skip'
    return this.#options.outcomes.mayWait(thrown)
  }
}
