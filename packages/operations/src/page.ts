import { refused, requireWithin } from './request-faults.ts'

/** A page of a list. */
export interface Page<Row> {
  readonly rows: readonly Row[]
  /** What to ask the next page with; undefined at the end. */
  readonly next: string | undefined
}

export interface PageRequest {
  /** 1 to 1,000. Default 50. */
  readonly limit?: number | undefined
  /** `next` of an earlier answer. Opaque; stays right while rows are added and removed. */
  readonly cursor?: string | undefined
}

const DEFAULT_LIMIT = 50
const MOST_ROWS = 1_000
const LONGEST_CURSOR = 8_192

/** @throws CronceError CRONCE_INPUT_INVALID */
export function pageLimit({ limit = DEFAULT_LIMIT }: PageRequest): number {
  return requireWithin('limit', limit, { least: 1, most: MOST_ROWS })
}

/** Where a row stands in a list over several sources: newest first, then by source, then by id backwards. */
export interface Place {
  readonly at: number
  readonly source: string
  readonly id: string
}

export function comparePlaces(a: Place, b: Place): number {
  if (a.at !== b.at) return b.at - a.at
  if (a.source !== b.source) return a.source < b.source ? -1 : 1
  return a.id === b.id ? 0 : a.id > b.id ? -1 : 1
}

export function writeCursor({ at, source, id }: Place): string {
  return Buffer.from(JSON.stringify([at, source, id])).toString('base64url')
}

/** @throws CronceError CRONCE_INPUT_INVALID */
export function readCursor(cursor: string | undefined): Place | undefined {
  if (cursor === undefined) return undefined
  const [at, source, id, ...rest] = parse(cursor)
  if (Number.isSafeInteger(at) && typeof source === 'string' && typeof id === 'string' && rest.length === 0) {
    return { at: at as number, source, id }
  }
  throw refused('cursor', 'the `next` of an earlier answer', cursor)
}

function parse(cursor: string): readonly unknown[] {
  if (cursor.length > LONGEST_CURSOR) return []
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return Array.isArray(value) ? value : []
  } catch {
    return []
  }
}
