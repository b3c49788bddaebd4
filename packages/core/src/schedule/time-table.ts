import { RecentMap } from '../recent-map.ts'

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

const tables = new RecentMap<string, TimeTable>(1_000)

/** The table of the allowed values below `size`, at least one; fields written alike share it. */
export function timeTable(size: number, values: readonly number[]): TimeTable {
  const key = `${size} ${values.join()}`
  let table = tables.get(key)
  if (table === undefined) {
    table = makeTable(size, new Set(values))
    tables.set(key, table)
  }
  return table
}

function makeTable(size: number, allowed: ReadonlySet<number>): TimeTable {
  const next = new Int8Array(size + 1).fill(-1)
  const prev = new Int8Array(size + 1).fill(-1)
  const below = new Int8Array(size + 1)
  for (let value = size - 1; value >= 0; value -= 1)
    next[value] = allowed.has(value) ? value : (next[value + 1] as number)
  for (let value = 0, count = 0, last = -1; value <= size; value += 1) {
    below[value] = count
    if (allowed.has(value)) {
      count += 1
      last = value
    }
    prev[value] = last
  }
  return { next, prev, below, least: next[0] as number, most: prev[size] as number, count: below[size] as number }
}
