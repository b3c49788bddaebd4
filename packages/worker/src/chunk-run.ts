import { CronceError } from '@cronce/core'
import type { TaskOutcome } from '@cronce/queue'
import type { ChunkStart, Settled } from '@cronce/store'
import type { AttemptScope } from './attempt.ts'
import { type AttemptEnd, AttemptPool } from './attempt-pool.ts'
import { eachAlone } from './chunk-attempt.ts'
import { ChunkBulk } from './chunk-bulk.ts'
import { type ChunkChoice, chooseMembers } from './chunk-decisions.ts'
import { ChunkOutcomes } from './chunk-outcomes.ts'
import { EntityAttempt } from './entity-attempt.ts'
import { MemberQueue } from './member-queue.ts'
import { FINISHED, followUp, letGoOf, showLetters, type TaskInHand } from './run-progress.ts'
import type { ShutdownPhase } from './shutdown.ts'

/** Handlers that never wait would keep the loop, and with it the lock's renewal, from its turn for longer than this, ms. */
const LONGEST_TURN_MS = 20

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
  readonly #pool: AttemptPool<EntityAttempt>
  readonly #outcomes: ChunkOutcomes
  readonly #bulk: ChunkBulk
  readonly #startedAt: number
  /** Redis's clock minus ours: retries are dated by Redis, whichever worker looks at them. */
  readonly #skewMs: number
  #standing: Standing = 'running'
  #trouble: { readonly error: unknown } | undefined
  #wake = (): void => undefined
  #cancelRecheck = (): void => undefined
  #isPumping = false
  #turnEndsAt = 0

  constructor(inHand: TaskInHand, start: ChunkStart, scope: AttemptScope) {
    const { context, handler } = inHand
    const { job } = handler
    const { worker } = context.executor
    this.#inHand = inHand
    this.#scope = scope
    this.#choice = chooseMembers(start, { onCrash: job.onCrash, crashLimit: context.timing.crashLimit, worker })
    this.#queue = new MemberQueue(this.#choice.members)
    this.#startedAt = context.clock.now()
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
    this.#bulk = new ChunkBulk(inHand, {
      ...{ scope, mode: this.#choice.mode, queue: this.#queue, outcomes: this.#outcomes },
      now: () => this.#now(),
      isLost: () => this.#standing === 'lost',
    })
  }

  /** @throws what the store threw, where its writes failed for good: the task is tried again */
  async execute(): Promise<TaskOutcome> {
    const { events } = this.#inHand.context
    const { mode, ends, members } = this.#choice
    this.#turnEndsAt = this.#startedAt + LONGEST_TURN_MS
    this.#armRecheck()
    events.emit('chunk.started', { ...this.#facts, entities: members.length })
    for (const end of ends) this.#outcomes.forego(end)
    try {
      if (this.#standing === 'running') await this.#bulk.run()
      await (mode === 'together' ? this.#runTogether() : this.#runMarked())
      return await this.#finish()
    } finally {
      this.#cancelRecheck()
      this.#outcomes.close()
    }
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
    this.#wake()
  }

  /** Something suggests that another worker has the chunk by now: asks the store (promise 7). */
  recheck(): void {
    if (this.#standing === 'lost') return
    const started = this.#choice.mode === 'alone' ? this.#pool.running.map(({ member }) => member.index) : []
    this.#outcomes.flush(started).catch((error: unknown) => this.lose(error))
  }

  /** T9, promise 7: a run that was cancelled, or a chunk that was taken, is noticed although no entity ends meanwhile. */
  #armRecheck(): void {
    const { clock, timing } = this.#inHand.context
    this.#cancelRecheck = clock.after(timing.recheckMs, () => {
      this.recheck()
      if (this.#standing !== 'lost') this.#armRecheck()
    })
  }

  /** As many at once as the job allows; outcomes are written by time. */
  async #runTogether(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = () => {
        this.#pump()
        if (this.#pool.size === 0 && !this.#isPumping) resolve()
      }
      this.#wake()
    })
  }

  #pump(): void {
    if (this.#isPumping) return
    const { clock } = this.#inHand.context
    const { concurrency } = this.#inHand.handler.job.chunk
    this.#isPumping = true
    while (this.#standing === 'running' && this.#pool.size < concurrency) {
      const now = clock.now()
      if (now >= this.#turnEndsAt) {
        setImmediate(() => this.#nextTurn())
        return
      }
      const member = this.#queue.next(now + this.#skewMs)
      if (member === undefined) break
      this.#pool.start(new EntityAttempt(this.#scope, member))
    }
    this.#isPumping = false
  }

  #nextTurn(): void {
    this.#turnEndsAt = this.#inHand.context.clock.now() + LONGEST_TURN_MS
    this.#isPumping = false
    this.#wake()
  }

  /** W5, W6: each start behind a durable mark; the ends before it and the mark are one write. */
  async #runMarked(): Promise<void> {
    const width = this.#choice.mode === 'alone' ? 1 : this.#inHand.handler.job.chunk.concurrency
    for (;;) {
      const room = this.#standing === 'running' ? width - this.#pool.size : 0
      const batch = this.#queue.take(room, this.#now())
      if (batch.length === 0 && this.#pool.size === 0) return
      if (batch.length > 0) {
        const settled = await this.#outcomes.flush(batch.map(({ index }) => index))
        if (settled.status !== 'open') return
        for (const member of batch) this.#pool.start(new EntityAttempt(this.#scope, member))
        if (this.#inHand.context.shutdown.phase === 'aborting') this.#pool.drop(new CronceError('CRONCE_SHUTDOWN'))
      }
      if (this.#pool.size > 0) await this.#nextEnd()
    }
  }

  /** One end, and those that come in the same turn of the loop. */
  async #nextEnd(): Promise<void> {
    const { size } = this.#pool
    await new Promise<void>((resolve) => {
      this.#wake = () => {
        if (this.#pool.size < size) resolve()
      }
    })
    await new Promise<void>((resolve) => void setImmediate(resolve))
  }

  #onEnd(attempt: EntityAttempt, end: AttemptEnd): void {
    if (this.#standing !== 'lost') {
      const left = this.#outcomes.record(attempt, end)
      if (left !== undefined) this.#queue.putBack(left)
    }
    this.#wake()
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
    // Not written, its receipts still say what was done: they only fold later.
    const onError = (error: unknown) => events.emit('queue.troubled', { queue: '(receipts)', kind: 'error', error })
    if (last.status === 'closed') await this.#scope.chunkReceipts?.close().catch(onError)
    await showLetters(this.#inHand, this.#outcomes.letters)
    events.emit('chunk.settled', {
      ...this.#facts,
      ...this.#outcomes.counts,
      tookMs: this.#now() - this.#skewMs - this.#startedAt,
    })
    await followUp(this.#inHand, last)
    return last.status === 'closed' ? FINISHED : this.#handBack(last)
  }

  async #settle(): Promise<void> {
    if (this.#outcomes.last?.status === 'closed') return
    // With the last entity it closes the chunk; else it gives it back.
    await this.#outcomes.flush([], true).catch((error: unknown) => this.lose(error))
  }

  #handBack(settled: Settled): TaskOutcome {
    const { context } = this.#inHand
    const isLeaving = context.shutdown.phase !== 'open'
    const waitMs = isLeaving || this.#queue.size === 0 ? 0 : Math.max(0, this.#queue.earliestAt - settled.now)
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
    this.#wake()
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
