import { CronceError, describeValue } from '@cronce/core'
import type { PlanMember } from '@cronce/store'
import type { SourceAnswer } from './entity-source.ts'
import type { Handler } from './handler.ts'
import { endRows, type OpenRows } from './open-sources.ts'
import { GrowingPage, planMembers } from './page-members.ts'

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

/** How a reader reaches its source. */
export interface SourceCalls {
  readonly call: CallSource
  readonly inTime: InTime
  /** An iterable that a step before left in the middle, at the plan's cursor. */
  readonly open?: OpenRows | undefined
}

/** Reads a run's entities from its handler's source, page by page, for one plan step. */
export class PageReader {
  readonly #handler: Handler
  readonly #call: CallSource
  readonly #inTime: InTime
  #open: OpenRows | undefined

  constructor(handler: Handler, { call, inTime, open }: SourceCalls) {
    this.#handler = handler
    this.#call = call
    this.#inTime = inTime
    this.#open = open
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

  /** The iterable in the middle, for the next step of the plan; this reader has it no longer. */
  release(): OpenRows | undefined {
    const open = this.#open
    this.#open = undefined
    return open
  }

  /** Lets an iterable go. */
  async close(): Promise<void> {
    const open = this.release()
    if (open?.rows.return !== undefined) await this.#inTime(() => endRows(open.rows)).catch(() => undefined)
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
    const open: OpenRows = { rows, taken: 0, held: undefined }
    this.#open = open
    while (open.taken < before) {
      const row = await this.#row(open)
      if (row.done === true) return { members: [], next: cursor, last: true }
      open.taken += 1
    }
    return await this.#take(open)
  }

  /** One that failed or took too long is not gone on with: a generator that threw answers that it is at its end. */
  async #take(open: OpenRows): Promise<PlanPart> {
    try {
      return await this.#fill(open)
    } catch (error) {
      await this.close()
      throw error
    }
  }

  async #fill(open: OpenRows): Promise<PlanPart> {
    const page = new GrowingPage(this.#handler.shape)
    let bytes = 0
    while (page.members.length < this.#limit) {
      const row = open.held ?? (await this.#row(open))
      open.held = undefined
      if (row.done === true) {
        this.#open = undefined
        return { members: page.members, next: `${TAKEN}${open.taken}`, last: true }
      }
      bytes += Buffer.byteLength(page.add(row.value).payload)
      if (bytes > LARGEST_CHUNK_BYTES && page.members.length > 1) {
        // The first of the next page.
        page.members.pop()
        open.held = row
        break
      }
      open.taken += 1
    }
    return { members: page.members, next: `${TAKEN}${open.taken}`, last: false }
  }

  async #row({ rows }: OpenRows): Promise<IteratorResult<unknown>> {
    const answer = rows.next()
    return isPending(answer) ? await this.#inTime(() => answer) : answer
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
