import { RecentMap } from '../recent-map.ts'
import type { MissingTime, RepeatedTime } from './schedule.ts'
import { type ZoneChange, type ZoneClock, zoneClock } from './zone-clock.ts'

/** A span of instants whose slots are the matching local times at one offset. Seconds; `until` is not included. */
export interface WallPiece {
  readonly from: number
  readonly until: number
  readonly offset: number
  /** Missing local times, shifted past the gap: may fall on instants that other pieces have too. */
  readonly isShifted: boolean
}

/** An instant that is a slot where a local time of a span matches: the end of a gap. */
export interface WallMark {
  readonly at: number
  readonly localFrom: number
  readonly localUntil: number
}

/** How wall time maps to instants within one block of time. Pieces in order of `from`. */
export interface WallBlock {
  readonly from: number
  readonly until: number
  readonly pieces: readonly WallPiece[]
  readonly marks: readonly WallMark[]
}

/** What decides the map besides the zone. Interval-like expressions follow real time: `skip` and `both`. */
export interface WallPolicy {
  readonly missingTime: MissingTime
  readonly repeatedTime: RepeatedTime
}

const BLOCK_SECONDS = 8 * 86_400

/** More than any change of offset: the widest are whole days, where a zone crossed the date line. */
const REACH_SECONDS = 2 * 86_400

/** Ten years of blocks, at most twice as many. */
const MOST_BLOCKS = 500

const MOST_MAPS = 1_000

const NO_MARKS: readonly WallMark[] = []

const maps = new RecentMap<string, WallMap>(MOST_MAPS)

/** The map of a zone under a policy, shared by the process. */
export function wallMap(zone: string, policy: WallPolicy): WallMap {
  const key = `${zone} ${policy.missingTime} ${policy.repeatedTime}`
  let map = maps.get(key)
  if (map === undefined) {
    map = new WallMap(zoneClock(zone), policy)
    maps.set(key, map)
  }
  return map
}

/**
 * Maps wall time to instants, block by block, and remembers the blocks. A block depends on nothing but zone, policy and its place, so
 * that every question about an instant is answered alike, whatever was asked before.
 */
export class WallMap {
  readonly clock: ZoneClock
  readonly #policy: WallPolicy
  readonly #blocks = new RecentMap<number, WallBlock>(MOST_BLOCKS)
  #recent: WallBlock

  constructor(clock: ZoneClock, policy: WallPolicy) {
    this.clock = clock
    this.#policy = policy
    const everything = { from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY }
    const { fixedOffset } = clock
    this.#recent =
      fixedOffset === undefined
        ? { from: 0, until: 0, pieces: [], marks: NO_MARKS }
        : { ...everything, pieces: [{ ...everything, offset: fixedOffset, isShifted: false }], marks: NO_MARKS }
  }

  /** The block that holds an instant (epoch seconds). */
  blockAt(at: number): WallBlock {
    const recent = this.#recent
    if (at >= recent.from && at < recent.until) return recent
    const index = Math.floor(at / BLOCK_SECONDS)
    let block = this.#blocks.get(index)
    if (block === undefined) {
      block = this.#makeBlock(index * BLOCK_SECONDS, (index + 1) * BLOCK_SECONDS)
      this.#blocks.set(index, block)
    }
    this.#recent = block
    return block
  }

  #makeBlock(from: number, until: number): WallBlock {
    const changes = this.clock.changes(from - REACH_SECONDS, until + REACH_SECONDS)
    if (changes.length === 0) {
      return {
        from,
        until,
        pieces: [{ from, until, offset: this.clock.offsetAt(from), isShifted: false }],
        marks: NO_MARKS,
      }
    }
    const stretches = stretchesOf(changes, from - REACH_SECONDS, until + REACH_SECONDS)
    const pieces = stretches.flatMap((stretch, index) => {
      const rivals = rivalsOf(stretches, index, this.#policy.repeatedTime)
      return uncovered(localSpan(stretch), rivals).map((local) => piece(local, stretch.offset, false))
    })
    const gaps = this.#policy.missingTime === 'skip' ? [] : gapsOf(changes, stretches)
    if (this.#policy.missingTime === 'shift') pieces.push(...gaps.map((gap) => piece(gap, gap.before, true)))
    const marks =
      this.#policy.missingTime === 'at-gap-end'
        ? gaps.map((gap) => ({ at: gap.at, localFrom: gap.from, localUntil: gap.until }))
        : NO_MARKS
    return {
      from,
      until,
      pieces: pieces
        .map((each) => ({ ...each, from: Math.max(each.from, from), until: Math.min(each.until, until) }))
        .filter((each) => each.from < each.until)
        .toSorted((one, other) => one.from - other.from),
      marks: marks.filter((mark) => mark.at >= from && mark.at < until),
    }
  }
}

interface Span {
  readonly from: number
  readonly until: number
}

/** Instants with one offset. */
interface Stretch extends Span {
  readonly offset: number
}

/** Local times that do not exist, with the change that took them away. */
interface Gap extends Span {
  readonly at: number
  readonly before: number
}

function stretchesOf(changes: readonly ZoneChange[], from: number, until: number): readonly Stretch[] {
  const first = { from, until: changes[0]?.at ?? until, offset: changes[0]?.before ?? 0 }
  return [
    first,
    ...changes.map((change, index) => ({
      from: change.at,
      until: changes[index + 1]?.at ?? until,
      offset: change.after,
    })),
  ]
}

/** The stretches whose local times take precedence over those of the one at `index`. */
function rivalsOf(stretches: readonly Stretch[], index: number, repeatedTime: RepeatedTime): readonly Span[] {
  if (repeatedTime === 'both') return []
  return (repeatedTime === 'first' ? stretches.slice(0, index) : stretches.slice(index + 1)).map(localSpan)
}

function gapsOf(changes: readonly ZoneChange[], stretches: readonly Stretch[]): readonly Gap[] {
  return changes.flatMap(({ at, before, after }) => {
    return uncovered({ from: at + before, until: at + after }, stretches.map(localSpan)).map((span) => ({
      ...span,
      at,
      before,
    }))
  })
}

function localSpan(stretch: Stretch): Span {
  return { from: stretch.from + stretch.offset, until: stretch.until + stretch.offset }
}

/** What is left of a span without the others. */
function uncovered(span: Span, others: readonly Span[]): readonly Span[] {
  let left: readonly Span[] = span.from < span.until ? [span] : []
  for (const other of others) {
    left = left.flatMap(({ from, until }) => {
      const before = { from, until: Math.min(until, other.from) }
      const after = { from: Math.max(from, other.until), until }
      return [before, after].filter((each) => each.from < each.until)
    })
  }
  return left
}

function piece(local: Span, offset: number, isShifted: boolean): WallPiece {
  return { from: local.from - offset, until: local.until - offset, offset, isShifted }
}
