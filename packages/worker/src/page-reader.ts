import { CronceError, describeValue } from '@cronce/core'
import type { PlanMember } from '@cronce/store'
import type { SourceAnswer } from './entity-source.ts'
import type { Handler } from './handler.ts'
import { planMembers } from './page-members.ts'

/** A part of the plan, as it is written: one chunk, or the end. */
export interface PlanPart {
  readonly members: readonly PlanMember[]
  /** The cursor that the plan goes on from. */
  readonly next: string
  readonly last: boolean
}

/** The longest cursor of a source, in characters. */
const LONGEST_CURSOR = 4_096

/** The most bytes of JSON in one chunk: one script writes it, and must stay well under 100 ms. */
const LARGEST_CHUNK_BYTES = 4 * 1024 * 1024

// Cursors are kept with their kind, so that a source that changes its kind between two releases is noticed.
const AFTER = 'after:'
const TAKEN = 'taken:'

/** Calls the handler's source, within its time. */
export type CallSource = (after: string | undefined) => Promise<SourceAnswer>

/** Bounds one call into a source that was opened before. */
export type InTime = <T>(call: () => T | Promise<T>) => Promise<T>

interface OpenRows {
  readonly rows: Iterator<unknown> | AsyncIterator<unknown>
  taken: number
}

/** Reads a run's entities from its handler's source, page by page, for one plan step. */
export class PageReader {
  readonly #handler: Handler
  readonly #call: CallSource
  readonly #inTime: InTime
  #open: OpenRows | undefined

  constructor(handler: Handler, calls: { call: CallSource; inTime: InTime }) {
    this.#handler = handler
    this.#call = calls.call
    this.#inTime = calls.inTime
  }

  /**
   * The parts that follow a cursor of the plan; '' is the start. A page larger than a chunk comes in several.
   *
   * @throws what the source throws; CronceError CRONCE_SOURCE_INVALID
   */
  async read(cursor: string): Promise<readonly PlanPart[]> {
    if (this.#handler.entities === undefined) {
      const { members } = planMembers({ parse: (payload) => payload, key: () => this.#handler.shape.key(undefined) }, [
        null,
      ])
      return [{ members, next: `${AFTER}end`, last: true }]
    }
    if (this.#open !== undefined) return [await this.#take(this.#open)]
    const after = cursor.startsWith(AFTER) ? cursor.slice(AFTER.length) : undefined
    const answer: unknown = await this.#call(after)
    if (Array.isArray(answer)) return this.#pageParts(answer, cursor)
    if (typeof answer === 'object' && answer !== null) {
      if (Symbol.asyncIterator in answer) {
        return [await this.#begin((answer as AsyncIterable<unknown>)[Symbol.asyncIterator](), cursor)]
      }
      if (Symbol.iterator in answer)
        return [await this.#begin((answer as Iterable<unknown>)[Symbol.iterator](), cursor)]
      if ('entities' in answer && Array.isArray(answer.entities))
        return [this.#cursorPart(answer as CursorAnswer, cursor)]
    }
    throw refused('an array, an iterable, or { entities, next }', answer)
  }

  /** Lets an iterable go. Its own failure to end is nobody's loss. */
  async close(): Promise<void> {
    const open = this.#open
    this.#open = undefined
    if (open?.rows.return === undefined) return
    await this.#inTime(async () => await open.rows.return?.()).catch(() => undefined)
  }

  #pageParts(payloads: readonly unknown[], cursor: string): PlanPart[] {
    if (cursor.startsWith(TAKEN)) throw refused('an iterable, as the plan began with', payloads)
    if (payloads.length === 0) return [{ members: [], next: cursor, last: true }]
    const parts: PlanPart[] = []
    let position = 0
    let next = cursor
    while (position < payloads.length) {
      const page = planMembers(this.#handler.shape, payloads.slice(position, position + this.#limit))
      const count = fitting(page.members)
      const { members, lastKey } =
        count === page.members.length
          ? page
          : planMembers(this.#handler.shape, payloads.slice(position, position + count))
      // A part that ends in entities without a key goes on from the last key before them; they have keys made from their text.
      if (lastKey !== undefined) next = `${AFTER}${lastKey}`
      parts.push({ members, next, last: false })
      position += count
    }
    if (next === cursor)
      throw refusedAs('a page that goes on beyond its cursor', `the page after ${describeValue(cursor)} again`)
    return parts
  }

  #cursorPart({ entities, next }: CursorAnswer, cursor: string): PlanPart {
    if (cursor.startsWith(TAKEN)) throw refused('an iterable, as the plan began with', entities)
    if (entities.length > this.#limit)
      throw refused(`at most ${this.#limit} entities in a page with a cursor`, entities)
    const isCursor = typeof next === 'string' && next !== '' && next.length <= LONGEST_CURSOR
    if (next !== null && !isCursor) throw refused(`next to be null or text of 1 to ${LONGEST_CURSOR} characters`, next)
    const { members } = planMembers(this.#handler.shape, entities)
    if (fitting(members) < members.length) {
      throw refusedAs(`at most ${LARGEST_CHUNK_BYTES} bytes of JSON in a page with a cursor`, 'more')
    }
    const last = next === null
    const following = last ? cursor : `${AFTER}${next}`
    if (!last && following === cursor) throw refused('a page that goes on beyond its cursor', next)
    return { members, next: following, last }
  }

  async #begin(rows: OpenRows['rows'], cursor: string): Promise<PlanPart> {
    if (cursor.startsWith(AFTER)) throw refusedAs('a page, as the plan began with', 'an iterable')
    const before = cursor === '' ? 0 : Number(cursor.slice(TAKEN.length))
    const open = { rows, taken: 0 }
    this.#open = open
    while (open.taken < before) {
      const row = await this.#row(open)
      if (row.done === true) return { members: [], next: cursor, last: true }
    }
    return await this.#take(open)
  }

  async #take(open: OpenRows): Promise<PlanPart> {
    const payloads: unknown[] = []
    let last = false
    while (payloads.length < this.#limit) {
      const row = await this.#row(open)
      if (row.done === true) {
        last = true
        break
      }
      payloads.push(row.value)
    }
    if (last) this.#open = undefined
    return { members: planMembers(this.#handler.shape, payloads).members, next: `${TAKEN}${open.taken}`, last }
  }

  async #row(open: OpenRows): Promise<IteratorResult<unknown>> {
    const answer = open.rows.next()
    const row = isPending(answer) ? await this.#inTime(() => answer) : answer
    if (row.done !== true) open.taken += 1
    return row
  }

  get #limit(): number {
    return this.#handler.job.chunk.size
  }
}

interface CursorAnswer {
  readonly entities: readonly unknown[]
  readonly next: unknown
}

function isPending<T>(answer: T | Promise<T>): answer is Promise<T> {
  return typeof (answer as { then?: unknown }).then === 'function'
}

/** How many members, from the first, fit into one chunk; at least one. */
function fitting(members: readonly PlanMember[]): number {
  let bytes = 0
  for (const [index, { payload }] of members.entries()) {
    bytes += payload.length * 3 > LARGEST_CHUNK_BYTES / members.length ? Buffer.byteLength(payload) : payload.length
    if (bytes > LARGEST_CHUNK_BYTES && index > 0) return index
  }
  return members.length
}

function refused(expected: string, got: unknown): CronceError {
  return refusedAs(expected, describeValue(got))
}

function refusedAs(expected: string, got: string): CronceError {
  return new CronceError('CRONCE_SOURCE_INVALID', { expected, got })
}
