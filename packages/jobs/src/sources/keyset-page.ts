/** Which page of a source is wanted. */
export interface PageRequest {
  /** The key of the last row of the page before; undefined for the first page. */
  readonly after?: string | undefined
  /** At most this many rows. */
  readonly limit: number
}

/** The rows whose key comes after `after`, of rows in the order of their keys (by UTF-16 code unit). */
export function keysetPage<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  { after, limit }: PageRequest,
): readonly Row[] {
  const start = after === undefined ? 0 : firstAfter(rows, keyOf, after)
  return rows.slice(start, start + limit)
}

/** The order {@link keysetPage} needs. Not by locale: that order differs between hosts. */
export function byKey<Row>(keyOf: (row: Row) => string): (one: Row, other: Row) => number {
  return (one, other) => (keyOf(one) < keyOf(other) ? -1 : keyOf(one) > keyOf(other) ? 1 : 0)
}

function firstAfter<Row>(rows: readonly Row[], keyOf: (row: Row) => string, after: string): number {
  let low = 0
  let high = rows.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const row = rows[middle]
    if (row !== undefined && keyOf(row) <= after) low = middle + 1
    else high = middle
  }
  return low
}
