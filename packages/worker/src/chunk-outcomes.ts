import { formatDeadLetterId, type Redaction, type SlotKey } from '@cronce/core'
import { type ChunkMember, type ChunkStart, type MemberFailure, type Settled, settleChunk } from '@cronce/store'
import type { AttemptEnd } from './attempt-pool.ts'
import { abandonedEnd, type ChunkMode, type ForegoneEnd, judgeFailure } from './chunk-decisions.ts'
import { readWish } from './handler-errors.ts'
import { createPatience } from './patience.ts'
import type { TaskInHand } from './run-progress.ts'
import { SettleBuffer } from './settle-buffer.ts'
import { describeRedacted, keptError, type ThrownValue } from './thrown-value.ts'

export interface OutcomesOptions {
  readonly start: ChunkStart
  readonly mode: ChunkMode
  /** Redis's time. */
  readonly now: () => number
  /** Another worker holds the chunk. */
  readonly onLost: () => void
  /** The store could not be written. */
  readonly onTrouble: (error: unknown) => void
}

/** How an attempt ended that did not succeed. */
interface FailedEnd extends Pick<MemberFailure, 'verdict' | 'reason' | 'attempts' | 'nextAttemptAt'> {
  readonly thrown: unknown
}

/** An ending as the store takes it. */
export function memberFailure(
  member: ChunkMember,
  { thrown, ...facts }: FailedEnd,
  { slot, at, worker, redact }: { slot: SlotKey; at: number; worker: string; redact: Redaction | undefined },
): MemberFailure {
  return {
    ...facts,
    index: member.index,
    error: keptError(thrown, { number: member.attempts + 1, at, worker, redact, payload: member.payload }),
    deadLetterId: formatDeadLetterId(slot, member.key),
    entity: member.key,
    payload: JSON.stringify(member.payload ?? null),
  }
}

/** An attempt that has ended, by its number. */
export interface EndedAttempt {
  readonly member: ChunkMember
  readonly attempt: number
}

/** What became of a chunk's entities in this hold: judged, counted, told, and written. */
export class ChunkOutcomes {
  readonly #inHand: TaskInHand
  readonly #options: OutcomesOptions
  readonly #buffer: SettleBuffer
  readonly #counts = { done: 0, dead: 0, abandoned: 0 }
  readonly #letters: string[] = []

  constructor(inHand: TaskInHand, options: OutcomesOptions) {
    const { store, executor, clock, shutdown, timing } = inHand.context
    const patience = createPatience({ clock, shutdown })
    const hold = { ...executor, number: inHand.task.number, fence: options.start.fence }
    this.#inHand = inHand
    this.#options = options
    this.#buffer = new SettleBuffer({
      clock,
      everyMs: timing.settleMs,
      onTrouble: options.onTrouble,
      write: async (part) => {
        const settled = await patience(() => settleChunk(store, inHand.run, { ...hold, ...part }))
        if (settled.status === 'fenced' || settled.status === 'gone') options.onLost()
        return settled
      },
    })
  }

  get counts(): { readonly done: number; readonly dead: number; readonly abandoned: number } {
    return this.#counts
  }

  /** Ids of the dead letters written. */
  get letters(): readonly string[] {
    return this.#letters
  }

  get last(): Settled | undefined {
    return this.#buffer.last
  }

  /** Writes what is gathered, with the marks of those about to start; `alone`: of the one that runs with no other (W6). */
  flush(started: readonly number[] = [], how: 'among others' | 'alone' = 'among others'): Promise<Settled> {
    return this.#buffer.flush({ started, alone: how === 'alone' })
  }

  /** Writes what is gathered and gives the chunk back where something of it is left; these lose their marks. */
  handBack(unmarked: readonly number[]): Promise<Settled> {
    return this.#buffer.flush({ started: unmarked, handBack: true })
  }

  close(): void {
    this.#buffer.close()
  }

  /** An entity that ended without another attempt. */
  forego({ member, verdict, reason, error, attempts }: ForegoneEnd): void {
    this.#bury(member, { verdict, reason, attempts, thrown: error })
  }

  /** The end of an attempt. Answers the entity as it is to be run again, where it is. */
  record(attempt: EndedAttempt, end: AttemptEnd, now = this.#options.now()): ChunkMember | undefined {
    const { member } = attempt
    if (end.kind === 'done') {
      this.#counts.done += 1
      this.#buffer.addDone(member.index)
      return undefined
    }
    const { onCrash } = this.#inHand.handler.job
    if (end.kind === 'aborted') return onCrash === 'skip' ? this.#abandon(member, 'shutdown') : member
    if (end.kind === 'timeout' && onCrash === 'skip') return this.#abandon(member, 'timeout')
    return this.#fail(attempt, end, now)
  }

  /** Whether what asks for later still may, rather than count as a failure. */
  mayWait(thrown: unknown): boolean {
    const wish = readWish(thrown)
    return wish.kind === 'later' && this.#options.now() + wish.afterMs <= this.#laterUntilAt
  }

  /** A call with the whole chunk failed. Answers the entity as it is to be run by itself, now. */
  fallBack(member: ChunkMember, thrown: unknown): ChunkMember {
    // Where nothing is marked, nothing was started: the attempt by itself is its first.
    if (this.#options.mode !== 'marked') return member
    const nextAttemptAt = this.#options.now()
    const attempts = member.attempts + 1
    this.#write(member, { verdict: 'later', reason: 'fell back', attempts, thrown, nextAttemptAt })
    return { ...member, state: 'retrying', attempts, attemptsBefore: member.attemptsBefore + 1, nextAttemptAt }
  }

  #abandon(member: ChunkMember, why: 'shutdown' | 'timeout'): undefined {
    this.forego(abandonedEnd(member, this.#inHand.context.executor.worker, why))
  }

  #fail(
    attempt: EndedAttempt,
    end: { kind: 'thrown' | 'timeout' | 'invalid'; thrown: unknown },
    now: number,
  ): ChunkMember | undefined {
    const { context, handler, slot } = this.#inHand
    const { member, attempt: number } = attempt
    const { retry } = handler.job
    const { verdict, reason, attempts, delayMs } = judgeFailure(
      { ...end, attempt: number, attemptsBefore: member.attemptsBefore },
      { ...retry, random: context.random, now, laterUntilAt: this.#laterUntilAt },
    )
    if (verdict === 'dead') {
      this.#bury(member, { verdict, reason, attempts, thrown: end.thrown })
      return undefined
    }
    const nextAttemptAt = now + delayMs
    this.#write(member, { verdict, reason, attempts, thrown: end.thrown, nextAttemptAt })
    const error = this.#describe(member, end.thrown)
    context.events.emit('entity.retried', { slot, entity: member.key, attempt: number, delayMs, error })
    const attemptsBefore = member.attemptsBefore + (verdict === 'later' ? 1 : 0)
    return { ...member, state: 'retrying', attempts, attemptsBefore, nextAttemptAt }
  }

  get #laterUntilAt(): number {
    const { startedAt, effectiveAt } = this.#options.start
    return Math.max(startedAt, effectiveAt) + this.#inHand.handler.job.tolerance.finishMs
  }

  #bury(
    member: ChunkMember,
    end: { verdict: 'dead' | 'abandoned'; reason: string; attempts: number; thrown: unknown },
  ): void {
    const { context, slot } = this.#inHand
    const { verdict, reason, attempts, thrown } = end
    this.#counts[verdict] += 1
    this.#letters.push(this.#write(member, { ...end, nextAttemptAt: 0 }).deadLetterId)
    context.events.emit('entity.died', {
      slot,
      entity: member.key,
      attempts,
      reason,
      error: this.#describe(member, thrown),
    })
  }

  /** For the log: without what the job does not show. */
  #describe({ payload }: ChunkMember, thrown: unknown): ThrownValue {
    return describeRedacted(thrown, { payloads: [payload], redact: this.#inHand.handler.job.redact })
  }

  #write(member: ChunkMember, end: FailedEnd): MemberFailure {
    const { context, slot } = this.#inHand
    const at = this.#options.now()
    const { redact } = this.#inHand.handler.job
    const failure = memberFailure(member, end, { slot, at, worker: context.executor.worker, redact })
    this.#buffer.addFailure(failure)
    return failure
  }
}
