import type { RunSlot } from './run-slot.ts'

/** What a source is asked for. */
export interface PageRequest {
  /**
   * The cursor of the page before: what that page gave as `next`, else the key of its last entity. Undefined for the first page,
   * and for sources that return an iterable.
   */
  readonly after: string | undefined
  /** The most entities the page may hold: the job's `chunk.size`. */
  readonly limit: number
  readonly slot: RunSlot
  /** Fires when the job's `timeout` is over or the worker stops. */
  readonly signal: AbortSignal
}

/** A page with a cursor of its own; `next: null` says that it is the last. */
export interface CursorPage {
  readonly entities: readonly unknown[]
  /** Non-empty text, at most 4,096 characters. */
  readonly next: string | null
}

/**
 * What a source answers, raw: every entity is validated against the job's schema before its handler, after a way through JSON (a
 * `Date` arrives as text: coerce it in the schema).
 *
 * - An array is a page in the order of keys. Its cursor is the key of its last entity; the plan ends at the first EMPTY page, not
 *   at a short one, since a source may filter.
 * - A {@link CursorPage} carries its own cursor, and ends the plan by `next: null` only: it may be empty.
 * - An iterable, async or not (a generator, a stream of rows), is read in pages. It has no cursor: the plan counts what it took. A
 *   plan that pauses for room keeps it open for a while (16 in a worker, 5 minutes each); where another worker goes on, or this one
 *   was restarted, it is read again from the start and passed over for that many. So its order must be the same each time, and what is
 *   inserted or deleted before the resumed place shifts it; prefer pages where rows come and go.
 */
export type SourceAnswer = Iterable<unknown> | AsyncIterable<unknown> | CursorPage

/** Reads the entities of a run, page by page. */
export type EntitySource = (request: PageRequest) => SourceAnswer | Promise<SourceAnswer>
