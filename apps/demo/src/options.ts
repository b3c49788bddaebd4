import { CronceError, type Fault } from '@cronce/core'

/** The command line as commander leaves it: texts. */
export interface WrittenOptions {
  readonly slots?: string
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
}

/** A run until Ctrl-C. */
export interface InteractiveOptions {
  readonly kind: 'interactive'
  readonly replicas: number
  readonly workers: number
  readonly kills: 'on' | 'off'
}

const MOST_SLOTS = 600
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
  const slots = written.slots === undefined ? undefined : count('slots', written.slots, MOST_SLOTS)
  const replicas = count('replicas', written.replicas, MOST_PROCESSES)
  const workers = count('workers', written.workers, MOST_PROCESSES)
  if (written.json === true && slots === undefined) {
    faults.push({ path: '--json', message: 'expected --slots with it: a run until Ctrl-C has no last line' })
  }
  if (faults.length > 0) {
    const summary = faults.map(({ path, message }) => `${path}: ${message}`).join('; ')
    throw new CronceError('CRONCE_CONFIG_INVALID', { count: faults.length, summary }, { faults })
  }
  const kills = written.kill ? 'on' : 'off'
  if (slots === undefined) return { kind: 'interactive', replicas, workers, kills }
  return { kind: 'bounded', slots, replicas, workers, output: written.json === true ? 'json' : 'text', kills }
}
