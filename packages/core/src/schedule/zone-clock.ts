import { CronceError } from '../errors/cronce-error.ts'
import { RecentMap } from '../recent-map.ts'
import { zoneSuggestion } from './zone-name.ts'

/** A change of a zone's offset. All in seconds; `at` since the epoch. */
export interface ZoneChange {
  readonly at: number
  readonly before: number
  readonly after: number
}

/** A zone's offset is looked up at this distance; closer pairs of changes that cancel each other have never been (the
 * closest of the tz database is 4 days apart). */
const SAMPLE_SECONDS = 2 * 86_400

/** More than five years of samples, at most twice as many. */
const MOST_SAMPLES = 1_000

/** More than there are names in the tz database. */
const MOST_ZONES = 700

const MOST_CHANGES = 200

const NO_CHANGES: readonly ZoneChange[] = []

const clocks = new RecentMap<string, ZoneClock>(MOST_ZONES)

/** The clock of a zone, shared by the process. */
export function zoneClock(zone: string): ZoneClock {
  let clock = clocks.get(zone)
  if (clock === undefined) {
    clock = new ZoneClock(zone)
    clocks.set(zone, clock)
  }
  return clock
}

/** The offsets of one zone as this process's tz data give them, looked up where asked for and remembered. */
export class ZoneClock {
  readonly zone: string
  /** The offset in seconds of a zone that never changes it, else undefined. */
  readonly fixedOffset: number | undefined
  readonly #format: Intl.DateTimeFormat | undefined
  readonly #samples = new RecentMap<number, number>(MOST_SAMPLES)
  readonly #changes = new RecentMap<number, readonly ZoneChange[]>(MOST_CHANGES)

  /** @throws CronceError CRONCE_SCHEDULE_ZONE: a stored schedule may name a zone that this process's tz data do not have yet. */
  constructor(zone: string) {
    const suggestion = zoneSuggestion(zone)
    if (suggestion !== undefined) throw new CronceError('CRONCE_SCHEDULE_ZONE', { got: `"${zone}"`, suggestion })
    this.zone = zone
    if (zone === 'UTC' || zone === 'GMT') this.fixedOffset = 0
    else {
      this.#format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset', year: 'numeric' })
      this.fixedOffset = zone.startsWith('Etc/') ? this.#read(0) : undefined
    }
  }

  /** Seconds east of Greenwich at an instant (epoch seconds, whole). */
  offsetAt(at: number): number {
    if (this.fixedOffset !== undefined) return this.fixedOffset
    const sample = Math.floor(at / SAMPLE_SECONDS)
    let offset = this.#sample(sample)
    for (const change of this.#changesAfter(sample)) if (change.at <= at) offset = change.after
    return offset
  }

  /** The changes at or after `from` and before `until` (epoch seconds), in order. */
  changes(from: number, until: number): readonly ZoneChange[] {
    if (this.fixedOffset !== undefined) return NO_CHANGES
    let found = NO_CHANGES
    for (let sample = Math.floor(from / SAMPLE_SECONDS); sample * SAMPLE_SECONDS < until; sample += 1) {
      const changes = this.#changesAfter(sample)
      if (changes.length > 0) found = [...found, ...changes.filter(({ at }) => at >= from && at < until)]
    }
    return found
  }

  /** The changes between one sample and the next. */
  #changesAfter(sample: number): readonly ZoneChange[] {
    let before = this.#sample(sample)
    const last = this.#sample(sample + 1)
    if (before === last) return NO_CHANGES
    const known = this.#changes.get(sample)
    if (known !== undefined) return known
    const changes: ZoneChange[] = []
    for (let from = sample * SAMPLE_SECONDS; before !== last; ) {
      const at = this.#firstChange(from, (sample + 1) * SAMPLE_SECONDS, before)
      const after = this.#read(at)
      changes.push({ at, before, after })
      from = at
      before = after
    }
    this.#changes.set(sample, changes)
    return changes
  }

  /** The first instant after `from` with another offset than `before`, by bisection down to the second. */
  #firstChange(from: number, until: number, before: number): number {
    let low = from
    let high = until
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2)
      if (this.#read(middle) === before) low = middle
      else high = middle
    }
    return high
  }

  #sample(sample: number): number {
    let offset = this.#samples.get(sample)
    if (offset === undefined) {
      offset = this.#read(sample * SAMPLE_SECONDS)
      this.#samples.set(sample, offset)
    }
    return offset
  }

  /** Reads the end of `2026, GMT-04:00`; the offsets of before standard time have seconds. */
  #read(at: number): number {
    const text = this.#format?.format(at * 1000) ?? ''
    const sign = text.indexOf('GMT') + 3
    if (sign === text.length) return 0
    const [hours = '0', minutes = '0', seconds = '0'] = text.slice(sign + 1).split(':')
    const offset = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)
    // Comparisons with NaN never end: better no answer than a search for ever.
    if (Number.isNaN(offset)) {
      throw new CronceError('CRONCE_SCHEDULE_ZONE', { got: `"${this.zone}"`, suggestion: `: its offset is "${text}"` })
    }
    return text[sign] === '+' ? offset : -offset
  }
}

/** The version of the tz data that this process computes with, such as `2025c`. */
export function tzdataVersion(): string {
  return process.versions.tz ?? 'unknown'
}
