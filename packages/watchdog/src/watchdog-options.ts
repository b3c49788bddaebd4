import { CronceError, type Duration, describeValue, durationFault, type Fault, parseDuration } from '@cronce/core'
import type { Notifier } from './notifier.ts'
import { urlFaults } from './webhook-notifier.ts'

/** How often a watchdog looks while something is due or the matter, ms. */
export const DEFAULT_INTERVAL_MS = 10_000

/** What the author of a process says of its watchdog. */
export interface WatchdogSettings {
  /**
   * The shortest pause between two looks. Without anything to look at it looks every minute; the looks are shared, so that a
   * fleet reads each job once. Default 10 s, from 1 s to 10 min.
   */
  readonly interval?: Duration | undefined
  /** Where alarms go besides events, log and journal; see `webhookNotifier`. Default: nowhere. */
  readonly notifiers?: readonly Notifier[] | undefined
  /**
   * URLs by job: got after each of its runs that succeeded, and with `/fail` after its path posted after each that did not, as
   * healthchecks.io and its like take it. Sent by the worker that ends the run. Default: none.
   */
  readonly heartbeats?: Readonly<Record<string, string>> | undefined
}

export interface CheckedSettings {
  readonly intervalMs: number
  readonly notifiers: readonly Notifier[]
  readonly heartbeats: ReadonlyMap<string, string>
}

const INTERVAL_RANGE_MS = [1_000, 600_000] as const

/** @throws CronceError CRONCE_WATCHDOG_INVALID, whose `faults` has every fault */
export function checkSettings(settings: WatchdogSettings): CheckedSettings {
  const { interval = DEFAULT_INTERVAL_MS, notifiers = [], heartbeats = {} } = settings
  const faults: Fault[] = [
    ...intervalFaults(interval),
    ...notifierFaults(notifiers),
    ...Object.entries(heartbeats).flatMap(([job, url]) => urlFaults(`heartbeats.${job}`, url)),
  ]
  if (faults.length > 0) {
    const summary = faults.map(({ path, message }) => `${path}: ${message}`).join('; ')
    throw new CronceError('CRONCE_WATCHDOG_INVALID', { count: faults.length, summary }, { faults })
  }
  return { intervalMs: parseDuration(interval), notifiers, heartbeats: new Map(Object.entries(heartbeats)) }
}

function intervalFaults(interval: Duration): Fault[] {
  const fault = durationFault(interval)
  if (fault !== undefined) return [{ path: 'interval', message: fault }]
  const [leastMs, mostMs] = INTERVAL_RANGE_MS
  const intervalMs = parseDuration(interval)
  const isWithin = intervalMs >= leastMs && intervalMs <= mostMs
  return isWithin
    ? []
    : [{ path: 'interval', message: `expected a duration from 1s to 10m, got ${describeValue(interval)}` }]
}

function notifierFaults(notifiers: readonly Notifier[]): Fault[] {
  const names = new Set<string>()
  return notifiers.flatMap((notifier, index): Fault[] => {
    const path = `notifiers[${index}]`
    if (typeof notifier?.notify !== 'function' || typeof notifier.name !== 'string' || notifier.name === '') {
      return [{ path, message: `expected a notifier with a name, got ${describeValue(notifier)}` }]
    }
    if (names.has(notifier.name)) return [{ path, message: `expected a name of its own, got "${notifier.name}" again` }]
    names.add(notifier.name)
    return []
  })
}
