/*
 * An independent answer to "which instants are slots": it looks at the local time of every minute of a window, as Intl tells it, and
 * applies the written rules to what it saw. It shares no code with the product: no cron library, no zone arithmetic, no search.
 */

export interface OraclePolicy {
  readonly missingTime: 'at-gap-end' | 'skip' | 'shift'
  readonly repeatedTime: 'first' | 'second' | 'both'
}

export interface OracleRule extends OraclePolicy {
  /** Seconds of the minute, where the expression has six fields. Default 0. */
  readonly secondList?: readonly number[]
}

/** The local times of every minute of a window: wall-clock minutes since 1970-01-01T00:00. */
export interface OracleWindow {
  readonly zone: string
  /** Epoch milliseconds of the first minute. */
  readonly fromMs: number
  /** The part about which questions may be asked; around it is seen what maps into it. */
  readonly askFromMs: number
  readonly askUntilMs: number
  readonly walls: Int32Array
}

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/** As much is seen on either side of what may be asked about: more than any clock jumped in the years that are looked at. */
const MARGIN_MS = 0.5 * DAY_MS

const formats = new Map<string, Intl.DateTimeFormat>()

/** The wall clock of a zone at an instant, as though it were UTC. */
export function wallMs(zone: string, atMs: number): number {
  let format = formats.get(zone)
  if (format === undefined) {
    const numeric = 'numeric'
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: numeric,
      month: numeric,
      day: numeric,
      hour: numeric,
      minute: numeric,
      second: numeric,
    })
    formats.set(zone, format)
  }
  // 3/8/2026, 03:00:00
  const [date = '', time = ''] = format.format(atMs).split(', ')
  const [month, day, year] = date.split('/')
  const [hour, minute, second] = time.split(':')
  return Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second))
}

export function oracleWindow(zone: string, aroundMs: number, daysEitherSide: number): OracleWindow {
  const askFromMs = Math.floor(aroundMs / MINUTE_MS) * MINUTE_MS - daysEitherSide * DAY_MS
  const askUntilMs = askFromMs + 2 * daysEitherSide * DAY_MS
  const fromMs = askFromMs - MARGIN_MS
  const walls = new Int32Array((askUntilMs + MARGIN_MS - fromMs) / MINUTE_MS)
  for (let index = 0; index < walls.length; index += 1)
    walls[index] = wallMs(zone, fromMs + index * MINUTE_MS) / MINUTE_MS
  return { zone, fromMs, askFromMs, askUntilMs, walls }
}

/** The slots of an expression, given by its five fields from the minute on, after `askFromMs`, up to and including `askUntilMs`. */
export function oracleSlots(window: OracleWindow, expression: string, policy: OracleRule): readonly number[] {
  const { walls, fromMs } = window
  const isIntervalLike = readFields(expression).isIntervalLike
  const matching = matchingMinutes(window, expression)
  const { missingTime, secondList = [0] } = policy
  const minutes = isIntervalLike ? matching : chosenPasses(matching, walls, policy)
  const missing = isIntervalLike ? [] : missingMinutes(walls, expression, policy)
  const slots = new Set(missingTime === 'at-gap-end' ? missing.map((index) => fromMs + index * MINUTE_MS) : [])
  for (const index of missingTime === 'shift' ? [...minutes, ...missing] : minutes) {
    for (const second of secondList) slots.add(fromMs + index * MINUTE_MS + second * 1000)
  }
  return [...slots]
    .filter((slot) => slot > window.askFromMs && slot <= window.askUntilMs)
    .toSorted((one, other) => one - other)
}

const matches = new WeakMap<OracleWindow, Map<string, readonly number[]>>()

/** The minutes of the window whose wall time the expression names. */
function matchingMinutes(window: OracleWindow, expression: string): readonly number[] {
  const ofWindow = matches.get(window) ?? new Map<string, readonly number[]>()
  matches.set(window, ofWindow)
  const known = ofWindow.get(expression)
  if (known !== undefined) return known
  const fields = readFields(expression)
  const matching: number[] = []
  for (let index = 0; index < window.walls.length; index += 1)
    if (fields.matches(window.walls[index] as number)) matching.push(index)
  if (ofWindow.size < 8) ofWindow.set(expression, matching)
  return matching
}

function chosenPasses(
  matching: readonly number[],
  walls: Int32Array,
  { repeatedTime }: OraclePolicy,
): readonly number[] {
  if (repeatedTime === 'both') return matching
  const chosen = new Map<number, number>()
  for (const index of repeatedTime === 'first' ? matching.toReversed() : matching)
    chosen.set(walls[index] as number, index)
  return [...chosen.values()]
}

/** Minutes at which wall times run that no minute of the window has. */
function missingMinutes(walls: Int32Array, expression: string, { missingTime }: OraclePolicy): readonly number[] {
  const fields = readFields(expression)
  const minutes: number[] = []
  if (missingTime === 'skip') return minutes
  for (let index = 1; index < walls.length; index += 1) {
    const before = (walls[index - 1] as number) + 1
    for (let wall = before; wall < (walls[index] as number); wall += 1) {
      if (fields.matches(wall) && !walls.includes(wall))
        minutes.push(missingTime === 'shift' ? index + wall - before : index)
    }
  }
  return minutes
}

/** Changes of a zone's clocks, by looking at every day and then at every minute of the days that differ. */
export function oracleChanges(
  zone: string,
  fromMs: number,
  untilMs: number,
): readonly { readonly atMs: number; readonly offsets: string }[] {
  const changes: { atMs: number; offsets: string }[] = []
  const offsetAt = (atMs: number) => wallMs(zone, atMs) - atMs
  for (let dayMs = fromMs, offset = offsetAt(fromMs); dayMs < untilMs; dayMs += DAY_MS) {
    const nextOffset = offsetAt(dayMs + DAY_MS)
    for (let atMs = dayMs + MINUTE_MS; offset !== nextOffset && atMs <= dayMs + DAY_MS; atMs += MINUTE_MS) {
      const now = offsetAt(atMs)
      if (now !== offset) changes.push({ atMs, offsets: `${offset} ${now}` })
      offset = now
    }
    offset = nextOffset
  }
  return changes
}

interface Fields {
  readonly isIntervalLike: boolean
  matches(wall: number): boolean
}

const NAMES = ['sun mon tue wed thu fri sat', 'jan feb mar apr may jun jul aug sep oct nov dec'].map((names) =>
  names.split(' '),
)

const readings = new Map<string, Fields>()

/** Reads an expression as its rules are written, one value at a time. */
function readFields(expression: string): Fields {
  const known = readings.get(expression)
  if (known !== undefined) return known
  const written = expression === '@daily' ? '0 0 * * *' : expression.toLowerCase()
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = written.split(' ')
  const weekdayNumbers = weekday.replaceAll(/[a-z]{3}/g, (name) => String(NAMES[0]?.indexOf(name)))
  const monthNumbers = month.replaceAll(/[a-z]{3}/g, (name) => String((NAMES[1]?.indexOf(name) ?? 0) + 1))
  const takes = (field: string, value: number, bounds: Bounds) =>
    field.split(',').some((item) => itemTakes(item, value, bounds))
  const cache = new Map<number, boolean>()
  const dayMatches = (date: number) => {
    const at = new Date(date * DAY_MS)
    const dayOfMonth = at.getUTCDate()
    const length = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 0)).getUTCDate()
    const ofMonth = takes(day, dayOfMonth, [1, 31]) || (day.split(',').includes('l') && dayOfMonth === length)
    const ofWeek = weekdayNumbers.split(',').some((item) => {
      const [nthDay = '', nth] = item.split('#')
      if (nth !== undefined) return Number(nthDay) % 7 === at.getUTCDay() && Math.ceil(dayOfMonth / 7) === Number(nth)
      if (item.endsWith('l')) return Number(item.slice(0, -1)) % 7 === at.getUTCDay() && dayOfMonth + 7 > length
      return itemTakes(item, at.getUTCDay(), [0, 7]) || (at.getUTCDay() === 0 && itemTakes(item, 7, [0, 7]))
    })
    const isEither = !day.startsWith('*') && !weekday.startsWith('*')
    return takes(monthNumbers, at.getUTCMonth() + 1, [1, 12]) && (isEither ? ofMonth || ofWeek : ofMonth && ofWeek)
  }
  const minutes = Array.from({ length: 60 }, (_, value) => takes(minute, value, [0, 59]))
  const hours = Array.from({ length: 24 }, (_, value) => takes(hour, value, [0, 23]))
  const fields: Fields = {
    isIntervalLike: minute.startsWith('*') || hour.startsWith('*'),
    matches(wall) {
      const date = Math.floor(wall / 1440)
      if (!minutes[wall - Math.floor(wall / 60) * 60] || !hours[Math.floor(wall / 60) - date * 24]) return false
      let isDay = cache.get(date)
      if (isDay === undefined) {
        isDay = dayMatches(date)
        cache.set(date, isDay)
      }
      return isDay
    },
  }
  readings.set(expression, fields)
  return fields
}

type Bounds = readonly [least: number, most: number]

function itemTakes(item: string, value: number, [least, most]: Bounds): boolean {
  if (item.includes('l') || item.includes('#')) return false
  const [range = '', stepText] = item.split('/')
  const step = Number(stepText ?? 1)
  if (range === '*') return (value - least) % step === 0
  const [first = '', last] = range.split('-')
  const from = Number(first)
  const to = last === undefined ? (stepText === undefined ? from : most) : Number(last)
  if (from <= to) return value >= from && value <= to && (value - from) % step === 0
  // An inverted range goes on past the end of the field.
  const width = most === 7 ? 7 : most - least + 1
  const distance = (value - from + 2 * width) % width
  return distance <= (to - from + 2 * width) % width && distance % step === 0
}
