import type { ChunkMember } from '@cronce/store'

/** The entities of a chunk that are still to run: in plan order, those that wait for a retry when their time has come. */
export class MemberQueue {
  readonly #members: readonly ChunkMember[]
  #position = 0
  readonly #waiting: ChunkMember[] = []

  constructor(members: readonly ChunkMember[]) {
    this.#members = members
  }

  /** Takes the next entity whose time has come, or undefined. */
  next(now: number): ChunkMember | undefined {
    while (this.#position < this.#members.length) {
      const member = this.#members[this.#position] as ChunkMember
      this.#position += 1
      if (member.nextAttemptAt <= now) return member
      this.#waiting.push(member)
    }
    const index = this.#waiting.findIndex((member) => member.nextAttemptAt <= now)
    return index < 0 ? undefined : this.#waiting.splice(index, 1)[0]
  }

  /** Takes up to `count` of them. */
  take(count: number, now: number): ChunkMember[] {
    const taken: ChunkMember[] = []
    while (taken.length < count) {
      const member = this.next(now)
      if (member === undefined) break
      taken.push(member)
    }
    return taken
  }

  /** Takes those whose time has come and that have not failed in this life: what may be worked on in one call. */
  takeUntroubled(now: number): ChunkMember[] {
    const taken: ChunkMember[] = []
    while (this.#position < this.#members.length) {
      const member = this.#members[this.#position] as ChunkMember
      this.#position += 1
      const isUntroubled = member.nextAttemptAt <= now && member.attempts === member.attemptsBefore
      ;(isUntroubled ? taken : this.#waiting).push(member)
    }
    return taken
  }

  /** An entity that waits for its next attempt, or was not begun after all. */
  putBack(member: ChunkMember): void {
    this.#waiting.push(member)
  }

  /** How many are left. */
  get size(): number {
    return this.#members.length - this.#position + this.#waiting.length
  }

  /** When the earliest of those left may run; infinity where none is left. */
  get earliestAt(): number {
    if (this.#position < this.#members.length) return 0
    return this.#waiting.reduce(
      (earliest, { nextAttemptAt }) => Math.min(earliest, nextAttemptAt),
      Number.POSITIVE_INFINITY,
    )
  }
}
