import { durationFault, parseDuration } from '../duration.ts'
import { CronceError, type Fault } from '../errors/cronce-error.ts'
import { nearestName } from '../nearest-name.ts'
import { readCron } from './cron-reading.ts'
import type { CronSchedule, EverySchedule, MissingTime, RepeatedTime } from './schedule.ts'
import { zoneSuggestion } from './zone-name.ts'

/** One fault of a schedule: where, and the error that says it alone. */
export interface ScheduleFault {
  readonly path: string
  readonly error: CronceError
}

/** A schedule, or all that is wrong with it. */
export interface Checked<T> {
  readonly value: T | undefined
  readonly faults: readonly ScheduleFault[]
}

const MISSING_TIMES: readonly MissingTime[] = ['at-gap-end', 'skip', 'shift']
const REPEATED_TIMES: readonly RepeatedTime[] = ['first', 'second', 'both']
const CRON_OPTIONS = ['zone', 'missingTime', 'repeatedTime', 'seconds', 'spread']
const EVERY_OPTIONS = ['offset', 'spread']
const CRON_KEYS = ['kind', 'expression', 'zone', 'missingTime', 'repeatedTime', 'seconds', 'spreadMs']
const EVERY_KEYS = ['kind', 'periodMs', 'offsetMs', 'spreadMs']
const DAY_MS = 86_400_000

/** What other schedulers call these options, lower case. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  tz: 'zone',
  timezone: 'zone',
  jitter: 'spread',
  window: 'spread',
}

export function checkCron(expression: unknown, options: unknown): Checked<CronSchedule> {
  const faults: ScheduleFault[] = []
  const given = readOptions(options, CRON_OPTIONS, faults)
  const seconds = orDefault(given.seconds, false)
  if (typeof seconds !== 'boolean') faults.push(valueFault('seconds', 'true or false', seconds))
  const zone = orDefault(given.zone, 'UTC')
  checkZone(zone, faults)
  const missingTime = checkChoice(
    { path: 'missingTime', choices: MISSING_TIMES, got: orDefault(given.missingTime, 'at-gap-end') },
    faults,
  )
  const repeatedTime = checkChoice(
    { path: 'repeatedTime', choices: REPEATED_TIMES, got: orDefault(given.repeatedTime, 'first') },
    faults,
  )
  const spreadMs = checkDuration(
    { path: 'spread', got: orDefault(given.spread, 0), most: DAY_MS, mostText: 'at most 1d' },
    faults,
  )
  const text = checkExpression(expression, seconds === true, faults)
  if (faults.length > 0) return { value: undefined, faults }
  return {
    value: {
      kind: 'cron',
      expression: text,
      zone: zone as string,
      missingTime,
      repeatedTime,
      seconds: seconds === true,
      spreadMs,
    },
    faults,
  }
}

export function checkEvery(period: unknown, options: unknown): Checked<EverySchedule> {
  const faults: ScheduleFault[] = []
  const given = readOptions(options, EVERY_OPTIONS, faults)
  const periodMs = checkDuration({ path: 'period', got: period, least: 1000, leastText: 'at least 1s' }, faults)
  // A fault of the period says nothing about what is measured against it.
  const most = faults.some(({ path }) => path === 'period') ? Number.MAX_SAFE_INTEGER : periodMs
  const offsetMs = checkDuration(
    { path: 'offset', got: orDefault(given.offset, 0), most: most - 1000, mostText: 'less than the period' },
    faults,
  )
  const spreadMs = checkDuration(
    { path: 'spread', got: orDefault(given.spread, 0), most, mostText: 'at most the period' },
    faults,
  )
  return faults.length > 0
    ? { value: undefined, faults }
    : { value: { kind: 'every', periodMs, offsetMs, spreadMs }, faults }
}

/** Checks a value that claims to be a schedule, such as a stored row. */
export function checkSchedule(input: unknown): readonly ScheduleFault[] {
  try {
    return checkStored(input)
  } catch {
    // A getter or a proxy that throws: hostile, and no schedule.
    return [valueFault('', 'a schedule made by cron() or every()', 'an object that cannot be read')]
  }
}

/** The error of one fault, or one that stands for all of them. */
export function raise(faults: readonly ScheduleFault[]): CronceError {
  const [first] = faults
  const all = toFaults(faults)
  if (first !== undefined && faults.length === 1)
    return new CronceError(first.error.code, first.error.fields, { faults: all })
  const summary = all.map(({ message }) => message).join('; ')
  return new CronceError('CRONCE_SCHEDULE_INVALID', { count: faults.length, summary }, { faults: all })
}

export function toFaults(faults: readonly ScheduleFault[]): readonly Fault[] {
  return faults.map(({ path, error }) => ({ path, message: error.message }))
}

function checkStored(input: unknown): readonly ScheduleFault[] {
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    return [valueFault('', 'a schedule made by cron() or every()', input)]
  const row = input as Readonly<Record<string, unknown>>
  const faults: ScheduleFault[] = []
  if (row.kind === 'cron') {
    for (const key of CRON_KEYS) if (row[key] === undefined) faults.push(valueFault(key, 'present', undefined))
    checkKeys(row, CRON_KEYS, faults)
    const { expression, zone, missingTime, repeatedTime, seconds, spreadMs } = row
    return [
      ...faults,
      ...renamed(checkCron(expression, defined({ zone, missingTime, repeatedTime, seconds, spread: spreadMs })).faults),
    ]
  }
  if (row.kind === 'every') {
    for (const key of ['offsetMs', 'spreadMs'])
      if (row[key] === undefined) faults.push(valueFault(key, 'present', undefined))
    checkKeys(row, EVERY_KEYS, faults)
    const { periodMs, offsetMs, spreadMs } = row
    for (const key of ['periodMs', 'offsetMs', 'spreadMs'])
      if (typeof row[key] === 'string') faults.push(valueFault(key, 'a number of milliseconds', row[key]))
    return [...faults, ...renamed(checkEvery(periodMs, defined({ offset: offsetMs, spread: spreadMs })).faults)]
  }
  return [valueFault('kind', '"cron" or "every"', row.kind)]
}

/** Faults of options under the names that they have in the stored form. */
function renamed(faults: readonly ScheduleFault[]): readonly ScheduleFault[] {
  const names: Readonly<Record<string, string>> = { period: 'periodMs', offset: 'offsetMs', spread: 'spreadMs' }
  return faults.map(({ path, error }) => ({ path: names[path] ?? path, error }))
}

function defined(options: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
}

function checkExpression(expression: unknown, seconds: boolean, faults: ScheduleFault[]): string {
  if (typeof expression !== 'string') {
    faults.push(valueFault('expression', 'a cron expression', expression))
    return ''
  }
  const reading = readCron(expression, seconds ? 6 : 5)
  for (const error of reading.faults) faults.push({ path: 'expression', error })
  return reading.expression
}

function checkZone(zone: unknown, faults: ScheduleFault[]): void {
  if (typeof zone !== 'string') {
    faults.push(valueFault('zone', 'an IANA time zone', zone))
    return
  }
  const suggestion = zoneSuggestion(zone)
  if (suggestion !== undefined)
    faults.push({ path: 'zone', error: new CronceError('CRONCE_SCHEDULE_ZONE', { got: show(zone), suggestion }) })
}

function checkChoice<T extends string>(
  check: { path: string; choices: readonly T[]; got: unknown },
  faults: ScheduleFault[],
): T {
  const choice = check.choices.find((each) => each === check.got)
  if (choice === undefined)
    faults.push(valueFault(check.path, check.choices.map((each) => `"${each}"`).join(', '), check.got))
  return choice ?? (check.choices[0] as T)
}

interface DurationCheck {
  readonly path: string
  readonly got: unknown
  readonly least?: number
  readonly leastText?: string
  readonly most?: number
  readonly mostText?: string
}

function checkDuration(
  { path, got, least = 0, leastText = '', most = Number.MAX_SAFE_INTEGER, mostText = '' }: DurationCheck,
  faults: ScheduleFault[],
): number {
  const refuse = (expected: string) => {
    faults.push(valueFault(path, expected, got))
    return 0
  }
  if (durationFault(got) !== undefined) return refuse('a duration such as "15m"')
  const durationMs = parseDuration(got)
  if (durationMs < least) return refuse(leastText)
  if (durationMs > most) return refuse(mostText)
  // A slot key has no room for milliseconds.
  return durationMs % 1000 === 0 ? durationMs : refuse('whole seconds')
}

/** Only undefined asks for the default: null in a stored row is a fault. */
function orDefault(given: unknown, standard: unknown): unknown {
  return given === undefined ? standard : given
}

function readOptions(
  options: unknown,
  known: readonly string[],
  faults: ScheduleFault[],
): Readonly<Record<string, unknown>> {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    faults.push(valueFault('options', `an object with ${known.join(', ')}`, options))
    return {}
  }
  checkKeys(options, known, faults)
  return options as Readonly<Record<string, unknown>>
}

function checkKeys(value: object, known: readonly string[], faults: ScheduleFault[]): void {
  for (const option of Object.keys(value)) {
    if (known.includes(option)) continue
    const nearest = known.find((name) => name === OTHER_NAMES[option.toLowerCase()]) ?? nearestName(option, known)
    const fields = {
      known: known.join(', '),
      option,
      suggestion: nearest === undefined ? '' : `, did you mean ${nearest}?`,
    }
    faults.push({ path: option, error: new CronceError('CRONCE_SCHEDULE_OPTION', fields) })
  }
}

function valueFault(path: string, expected: string, got: unknown): ScheduleFault {
  return {
    path,
    error: new CronceError('CRONCE_SCHEDULE_VALUE', { path: path === '' ? 'it' : path, expected, got: show(got) }),
  }
}

function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}...` : value)
  if (typeof value === 'number' || typeof value === 'boolean' || value === null || value === undefined)
    return String(value)
  return Array.isArray(value) ? 'a list' : `a value of type ${typeof value}`
}
