import { CronceError } from '@cronce/core'
import type { TaskOutcome } from '@cronce/queue'
import { type ChunkStart, type Settled, startEntities } from '@cronce/store'
import type { AttemptScope } from './attempt.ts'
import { type AttemptEnd, AttemptPool } from './attempt-pool.ts'
import { eachAlone } from './chunk-attempt.ts'
import { ChunkBulk } from './chunk-bulk.ts'
import { type ChunkChoice, chooseMembers } from './chunk-decisions.ts'
import { ChunkFeed } from './chunk-feed.ts'
import { ChunkOutcomes } from './chunk-outcomes.ts'
import type { EntityAttempt } from './entity-attempt.ts'
import { MemberQueue } from './member-queue.ts'
import { FINISHED, followUp, handBackLater, letGoOf, showLetters, type TaskInHand } from './run-progress.ts'
import type { ShutdownPhase } from './shutdown.ts'
import { StartAllowance } from './start-allowance.ts'

/**
 * How a chunk's execution stands.
 * - `running`: entities start as there is room.
 * - `draining`: none starts; those that run may finish.
 * - `lost`: another worker holds the chunk, or the store cannot be written; nothing more is written here.
 */
type Standing = 'running' | 'draining' | 'lost'

/** One hold of a chunk by this worker: from its start to its settlement or hand-back (W4 to W7). */
export class ChunkRun {
  readonly #inHand: TaskInHand
  readonly #choice: ChunkChoice
  readonly #scope: AttemptScope
  readonly #queue: MemberQueue
  readonly #suspects: MemberQueue
  readonly #pool: AttemptPool<EntityAttempt>
  readonly #outcomes: ChunkOutcomes
  readonly #allowance: StartAllowance
  readonly #bulk: ChunkBulk
  #feed: ChunkFeed
  /** W6: feeds what runs alone, after the others. */
  readonly #aloneFeed: ChunkFeed
  /** Whether nothing is waited for before a start: no mark, no rate. */
  readonly #isFree: boolean
  readonly #startedAt: number
  /** When the run started, Redis's time. */
  readonly #runStartedAt: number
  /** Redis's clock minus ours: retries are dated by Redis, whichever worker looks at them. */
  readonly #skewMs: number
  /** What is marked as running alone; a crash is then its own. */
  #alone: readonly number[] = []
  /** What was stopped by us while it ran among others: no suspect, although it has a mark and no end. */
  readonly #innocent: number[] = []
  #standing: Standing = 'running'
  #trouble: { readonly error: unknown } | undefined
  #cancelRecheck = (): void => undefined

  constructor(inHand: TaskInHand, start: ChunkStart, scope: AttemptScope) {
    const { context, handler } = inHand
    const { job } = handler
    const { worker } = context.executor
    this.#inHand = inHand
    this.#scope = scope
    const width = Math.min(job.chunk.concurrency, start.width || job.chunk.concurrency)
    const { crashLimit } = context.timing
    this.#choice = chooseMembers(start, { onCrash: job.onCrash, concurrency: width, crashLimit, worker })
    this.#queue = new MemberQueue(this.#choice.members)
    this.#suspects = new MemberQueue(this.#choice.suspects)
    this.#startedAt = context.clock.now()
    this.#runStartedAt = start.startedAt
    this.#skewMs = start.now - this.#startedAt
    this.#pool = new AttemptPool<EntityAttempt>({
      clock: context.clock,
      timeoutMs: job.timeoutMs,
      read: ({ member }) => handler.shape.parse(member.payload),
      call: handler.each ?? eachAlone(handler.eachChunk ?? (() => undefined)),
      onEnd: (attempt, end) => this.#onEnd(attempt, end),
    })
    this.#outcomes = new ChunkOutcomes(inHand, {
      start,
      mode: this.#choice.mode,
      now: () => this.#now(),
      onLost: () => this.lose(),
      onTrouble: (error) => this.lose(error),
    })
    this.#allowance = new StartAllowance({
      clock: context.clock,
      ask: start.isRated ? (wanted) => scope.patience(() => startEntities(context.store, job.name, wanted)) : undefined,
    })
    const parts = { scope, queue: this.#queue, outcomes: this.#outcomes, allowance: this.#allowance }
    const feedParts = {
      scope,
      allowance: this.#allowance,
      clock: context.clock,
      shutdown: context.shutdown,
      pool: this.#pool,
    }
    const standing = { now: () => this.#now(), mayStart: () => this.#standing === 'running' }
    const { mode } = this.#choice
    this.#bulk = new ChunkBulk(inHand, { ...parts, ...standing, mode, isLost: () => this.#standing === 'lost' })
    this.#isFree = mode === 'together' && !start.isRated
    this.#feed = new ChunkFeed({
      ...{ ...feedParts, ...standing, queue: this.#queue, width: this.#choice.width },
      mark:
        mode === 'together' ? undefined : async (indexes) => (await this.#outcomes.flush(indexes)).status === 'open',
    })
    this.#aloneFeed = new ChunkFeed({
      ...{ ...feedParts, ...standing, queue: this.#suspects, width: 1 },
      mark: async (indexes) => {
        this.#alone = indexes
        return (await this.#outcomes.flush(indexes, 'alone')).status === 'open'
      },
    })
  }

  /** @throws what the store threw, where its writes failed for good: the task is tried again */
  async execute(): Promise<TaskOutcome> {
    const { events } = this.#inHand.context
    const { ends, members, suspects } = this.#choice
    this.#armRecheck()
    events.emit('chunk.started', { ...this.#facts, entities: members.length + suspects.length })
    for (const end of ends) this.#outcomes.forego(end)
    try {
      if (this.#standing === 'running') await this.#bulk.run()
      if (this.#allowance.waitMs === 0) await (this.#isFree ? this.#feed.runFreely() : this.#feed.runByMarks())
      if (this.#suspects.size > 0 && this.#allowance.waitMs === 0) await this.#runAlone()
      return await this.#finish()
    } catch (error) {
      this.lose(error)
      throw error
    } finally {
      this.#cancelRecheck()
      this.#outcomes.close()
    }
  }

  /** W6: the chunk-mates are through, or wait for a retry; now those of which one may take this worker down. */
  async #runAlone(): Promise<void> {
    this.#feed = this.#aloneFeed
    await this.#feed.runByMarks()
  }

  /** The worker is on its way out. */
  shutDown(phase: ShutdownPhase): void {
    if (this.#standing === 'running') this.#standing = 'draining'
    if (phase === 'aborting') {
      const { clock, timing } = this.#inHand.context
      const error = new CronceError('CRONCE_SHUTDOWN')
      this.#pool.abort(error)
      this.#bulk.abort(error)
      clock.after(timing.abortGraceMs, () => this.#drop(error))
    }
    this.#feed.wake()
  }

  /** Something suggests that another worker has the chunk by now: asks the store (promise 7). */
  recheck(): void {
    if (this.#standing === 'lost') return
    this.#outcomes.flush(this.#alone, 'alone').catch((error: unknown) => this.lose(error))
  }

  /** T9, promise 7: a run that was cancelled, or a chunk that was taken, is noticed although no entity ends meanwhile. */
  #armRecheck(): void {
    const { clock, timing } = this.#inHand.context
    this.#cancelRecheck = clock.after(timing.recheckMs, () => {
      this.recheck()
      if (this.#standing !== 'lost') this.#armRecheck()
    })
  }

  #onEnd(attempt: EntityAttempt, end: AttemptEnd): void {
    if (this.#standing !== 'lost') {
      const left = this.#outcomes.record(attempt, end)
      const isAlone = this.#feed === this.#aloneFeed
      if (isAlone) this.#alone = []
      else if (end.kind === 'aborted' && this.#choice.mode === 'watched') this.#innocent.push(attempt.member.index)
      if (left !== undefined) (isAlone ? this.#suspects : this.#queue).putBack(left)
    }
    this.#feed.wake()
  }

  async #finish(): Promise<TaskOutcome> {
    const { events } = this.#inHand.context
    if (this.#standing !== 'lost') await this.#settle()
    if (this.#trouble !== undefined) throw this.#trouble.error
    const { last } = this.#outcomes
    if (this.#standing === 'lost' || last === undefined) {
      events.emit('chunk.fenced-off', this.#facts)
      await letGoOf(this.#inHand)
      return FINISHED
    }
    const closing = this.#scope.chunkReceipts?.closing
    if (last.status === 'closed' && closing !== undefined) this.#inHand.context.closings?.add(closing)
    await showLetters(this.#inHand, this.#outcomes.letters)
    events.emit('chunk.settled', {
      ...this.#facts,
      ...this.#outcomes.counts,
      tookMs: this.#now() - this.#skewMs - this.#startedAt,
    })
    await followUp(this.#inHand, { ...last, tookMs: Math.max(0, last.now - this.#runStartedAt) })
    return last.status === 'closed' ? FINISHED : this.#handBack(last)
  }

  async #settle(): Promise<void> {
    if (this.#outcomes.last?.status === 'closed') return
    // With the last entity it closes the chunk; else it gives it back.
    await this.#outcomes.handBack(this.#innocent).catch((error: unknown) => this.lose(error))
  }

  #handBack(settled: Settled): TaskOutcome {
    const { context } = this.#inHand
    const isLeaving = context.shutdown.phase !== 'open'
    const limitMs = this.#allowance.waitMs
    if (!isLeaving && limitMs > 0) return handBackLater(this.#inHand, limitMs)
    const earliestAt = Math.min(this.#queue.earliestAt, this.#suspects.earliestAt)
    const waitMs = isLeaving || earliestAt === Number.POSITIVE_INFINITY ? 0 : Math.max(0, earliestAt - settled.now)
    const reason = isLeaving ? 'shutdown' : 'retries'
    context.events.emit('chunk.handed-back', { ...this.#facts, delayMs: waitMs, reason })
    return { kind: 'again', delayMs: waitMs }
  }

  /** Promise 7: nothing further is started or written; every signal fires. */
  lose(error?: unknown): void {
    if (this.#standing === 'lost') return
    this.#standing = 'lost'
    if (error !== undefined) this.#trouble = { error }
    const { slot, fence } = this.#scope
    this.#drop(new CronceError('CRONCE_FENCED_OFF', { slot: slot.key, fence }))
    this.#feed.wake()
  }

  #drop(why: CronceError): void {
    this.#pool.drop(why)
    this.#bulk.drop(why)
  }

  #now(): number {
    return this.#inHand.context.clock.now() + this.#skewMs
  }

  get #facts() {
    return { slot: this.#inHand.slot, chunk: this.#inHand.task.number }
  }
}
