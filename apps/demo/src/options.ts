import { CronceError, durationFault, type Fault, parseDuration } from '@cronce/core'

/** The command line as commander leaves it: texts. */
export interface WrittenOptions {
  readonly slots?: string
  readonly entities?: string
  readonly killEvery?: string
  readonly replicas: string
  readonly workers: string
  readonly json?: boolean
  readonly kill: boolean
}

/** A run that ends by itself and judges what it saw. */
export interface BoundedOptions {
  readonly kind: 'bounded'
  readonly slots: number
  readonly replicas: number
  readonly workers: number
  readonly output: 'json' | 'text'
  readonly kills: 'on' | 'off'
  /** A report of any size, whose dead letters are redriven at the end; without it, the report is over the real packages. */
  readonly long?: LongReport
}

export interface LongReport {
  readonly entities: number
  /** A worker is killed every so often until the report has ended; without it, one in the middle. */
  readonly killEveryMs: number | undefined
}

/** A run until Ctrl-C. */
export interface InteractiveOptions {
  readonly kind: 'interactive'
  readonly replicas: number
  readonly workers: number
  readonly kills: 'on' | 'off'
}

const MOST_SLOTS = 600
const MOST_ENTITIES = 999_999

/** Slots that count beside a long report, unless told otherwise. */
const SLOTS_BESIDE = '10'

const LEAST_KILL_EVERY_MS = 100
const MOST_PROCESSES = 50

/**
 * @throws CronceError CRONCE_CONFIG_INVALID with every fault
 */
export function readOptions(written: WrittenOptions): BoundedOptions | InteractiveOptions {
  const faults: Fault[] = []
  const count = (name: string, text: string, most: number): number => {
    const value = /^\d{1,6}$/.test(text) ? Number(text) : 0
    if (value < 1 || value > most)
      faults.push({
        path: `--${name}`,
        message: `expected a whole number from 1 to ${most}, got ${JSON.stringify(text)}`,
      })
    return value
  }
  const long = written.entities === undefined ? undefined : longReport(written, count, faults)
  const slotsText = written.slots ?? (long === undefined ? undefined : SLOTS_BESIDE)
  const slots = slotsText === undefined ? undefined : count('slots', slotsText, MOST_SLOTS)
  const replicas = count('replicas', written.replicas, MOST_PROCESSES)
  const workers = count('workers', written.workers, MOST_PROCESSES)
  if (written.json === true && slots === undefined) {
    faults.push({
      path: '--json',
      message: 'expected --slots or --entities with it: a run until Ctrl-C has no last line',
    })
  }
  if (written.killEvery !== undefined && written.entities === undefined) {
    faults.push({ path: '--kill-every', message: 'expected --entities with it' })
  }
  if (written.killEvery !== undefined && !written.kill) {
    faults.push({ path: '--kill-every', message: 'expected it without --no-kill' })
  }
  if (faults.length > 0) {
    const summary = faults.map(({ path, message }) => `${path}: ${message}`).join('; ')
    throw new CronceError('CRONCE_CONFIG_INVALID', { count: faults.length, summary }, { faults })
  }
  const kills = written.kill ? 'on' : 'off'
  if (slots === undefined) return { kind: 'interactive', replicas, workers, kills }
  const output = written.json === true ? 'json' : 'text'
  return { kind: 'bounded', slots, replicas, workers, output, kills, ...(long === undefined ? {} : { long }) }
}

function longReport(
  { entities = '', killEvery }: WrittenOptions,
  count: (name: string, text: string, most: number) => number,
  faults: Fault[],
): LongReport {
  const size = count('entities', entities, MOST_ENTITIES)
  if (killEvery === undefined) return { entities: size, killEveryMs: undefined }
  const fault = durationFault(killEvery)
  const killEveryMs = fault === undefined ? parseDuration(killEvery) : 0
  if (fault !== undefined) faults.push({ path: '--kill-every', message: fault })
  else if (killEveryMs < LEAST_KILL_EVERY_MS) {
    faults.push({ path: '--kill-every', message: `expected ${LEAST_KILL_EVERY_MS} ms at least, got ${killEveryMs} ms` })
  }
  return { entities: size, killEveryMs }
}
