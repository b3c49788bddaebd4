/** The allowed values of one time field, with constant-time questions about them. Arrays have one entry more than the field. */
export interface TimeTable {
  /** The least allowed value that is not below the index, or -1. */
  readonly next: Int8Array
  /** The greatest allowed value that is not above the index, or -1. */
  readonly prev: Int8Array
  /** How many allowed values are below the index. */
  readonly below: Int8Array
  readonly least: number
  readonly most: number
  readonly count: number
}

/** A table of the values below `size` for which `allows` holds; at least one must. */
export function timeTable(size: number, allowed: ReadonlySet<number>): TimeTable {
  const next = new Int8Array(size + 1).fill(-1)
  const prev = new Int8Array(size + 1).fill(-1)
  const below = new Int8Array(size + 1)
  for (let value = size - 1; value >= 0; value -= 1) next[value] = allowed.has(value) ? value : (next[value + 1] ?? -1)
  for (let value = 0, count = 0, last = -1; value <= size; value += 1) {
    below[value] = count
    if (allowed.has(value) && value < size) {
      count += 1
      last = value
    }
    prev[value] = last
  }
  return { next, prev, below, least: next[0] ?? -1, most: prev[size] ?? -1, count: below[size] ?? 0 }
}
