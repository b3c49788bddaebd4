import { type Clock, CronceError } from '@cronce/core'
import type { ChunkMember } from '@cronce/store'
import type { AttemptScope } from './attempt.ts'
import type { AttemptPool } from './attempt-pool.ts'
import { EntityAttempt } from './entity-attempt.ts'
import type { MemberQueue } from './member-queue.ts'
import type { Shutdown } from './shutdown.ts'
import type { StartAllowance } from './start-allowance.ts'

/** Handlers that never wait would keep the loop, and with it the lock's renewal, from its turn for longer than this, ms. */
const LONGEST_TURN_MS = 20

export interface FeedOptions {
  readonly clock: Clock
  readonly shutdown: Shutdown
  readonly scope: AttemptScope
  readonly queue: MemberQueue
  readonly pool: AttemptPool<EntityAttempt>
  readonly allowance: StartAllowance
  /** Entities at once. */
  readonly width: number
  /** Redis's time. */
  readonly now: () => number
  /** Whether entities may still start. */
  readonly mayStart: () => boolean
  /** Writes the durable mark of those about to start; undefined where they need none. Answers whether they may. */
  readonly mark: ((indexes: readonly number[]) => Promise<boolean>) | undefined
}

/** Starts the entities of a chunk, in plan order, as there is room. */
export class ChunkFeed {
  readonly #options: FeedOptions
  #wake = (): void => undefined
  #isPumping = false
  #turnEndsAt = 0

  constructor(options: FeedOptions) {
    this.#options = options
  }

  /** Something ended, or nothing may start any more. */
  wake(): void {
    this.#wake()
  }

  /** Until none runs and none may start. As fast as can be: neither a mark nor a rate is waited for. */
  async runFreely(): Promise<void> {
    const { pool, clock } = this.#options
    this.#turnEndsAt = clock.now() + LONGEST_TURN_MS
    await new Promise<void>((resolve) => {
      this.#wake = () => {
        this.#pump()
        if (pool.size === 0 && !this.#isPumping) resolve()
      }
      this.#wake()
    })
  }

  #pump(): void {
    if (this.#isPumping) return
    const { clock, pool, queue, width, scope, now, mayStart } = this.#options
    this.#isPumping = true
    while (mayStart() && pool.size < width) {
      if (clock.now() >= this.#turnEndsAt) {
        setImmediate(() => this.#nextTurn())
        return
      }
      const member = queue.next(now())
      if (member === undefined) break
      pool.start(new EntityAttempt(scope, member))
    }
    this.#isPumping = false
  }

  #nextTurn(): void {
    this.#turnEndsAt = this.#options.clock.now() + LONGEST_TURN_MS
    this.#isPumping = false
    this.#wake()
  }

  /** Until none runs and none may start: each behind its mark (W5, W6), and when the job's rate lets it. */
  async runByMarks(): Promise<void> {
    const { pool, queue, allowance, now, mark, shutdown, scope } = this.#options
    for (;;) {
      const wanted = this.#room
      const granted = wanted > 0 ? await allowance.grant(wanted) : 0
      const batch = this.#room > 0 ? queue.take(granted, now()) : []
      allowance.giveBack(granted - batch.length)
      if (batch.length === 0 && pool.size === 0) return
      if (batch.length > 0 && mark !== undefined && !(await mark(batch.map(({ index }) => index)))) return
      for (const member of batch) this.#begin(scope, member)
      if (batch.length > 0 && shutdown.phase === 'aborting') pool.drop(new CronceError('CRONCE_SHUTDOWN'))
      // Fewer than there is room for: the rate has more for them soon, or in a while.
      if (batch.length > 0 && batch.length < wanted) continue
      if (pool.size > 0) await this.#nextEnd(allowance.waitMs)
    }
  }

  get #room(): number {
    const { mayStart, width, pool, queue, now } = this.#options
    return mayStart() && queue.earliestAt <= now() ? Math.min(width - pool.size, queue.size) : 0
  }

  #begin(scope: AttemptScope, member: ChunkMember): void {
    this.#options.pool.start(new EntityAttempt(scope, member))
  }

  /** One end, and those that come in the same turn of the loop; not longer than this, where it is above 0. */
  async #nextEnd(atMostMs: number): Promise<void> {
    const { pool, clock } = this.#options
    const { size } = pool
    await new Promise<void>((resolve) => {
      const cancel = atMostMs > 0 ? clock.after(atMostMs, resolve) : undefined
      this.#wake = () => {
        if (pool.size >= size) return
        cancel?.()
        resolve()
      }
    })
    await new Promise<void>((resolve) => void setImmediate(resolve))
  }
}
