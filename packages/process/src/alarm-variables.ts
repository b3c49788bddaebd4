import { CronceError, durationText, optionalText, optionalUrlText, type Variables } from '@cronce/core'
import { type WatchdogSettings, webhookNotifier } from '@cronce/watchdog'

/** Where alarms go; the same in every process of a service. */
export const ALARM_VARIABLES = {
  CRONCE_ALARM_URL: {
    about: 'Where alarms are posted, signed: http:// or https://. Unset: events, log and journal only.',
    default: '',
    schema: optionalUrlText(['http:', 'https:']),
  },
  CRONCE_ALARM_SECRET: {
    about: 'Signs what is posted there; at least 16 characters. Must be set where CRONCE_ALARM_URL is.',
    default: '',
    schema: optionalText(),
  },
  CRONCE_WATCH_EVERY: {
    about: 'The shortest pause between two looks of the watchdog.',
    default: '10s',
    schema: durationText({ leastMs: 1_000, mostMs: 600_000 }),
  },
} as const satisfies Variables

export interface AlarmConfig {
  readonly CRONCE_ALARM_URL: string | undefined
  readonly CRONCE_ALARM_SECRET: string | undefined
  readonly CRONCE_WATCH_EVERY: number
}

/**
 * What the watchdog of this process is told.
 *
 * @throws CronceError CRONCE_CONFIG_INVALID
 */
export function watchdogSettings(config: AlarmConfig): WatchdogSettings {
  const { CRONCE_ALARM_URL: url, CRONCE_ALARM_SECRET: secret = '', CRONCE_WATCH_EVERY: interval } = config
  if (url === undefined) return { interval }
  if (secret.length < 16) {
    const message = `expected at least 16 characters, because CRONCE_ALARM_URL is set, got ${secret.length}`
    const faults = [{ path: 'CRONCE_ALARM_SECRET', message }]
    throw new CronceError('CRONCE_CONFIG_INVALID', { count: 1, summary: message }, { faults })
  }
  return { interval, notifiers: [webhookNotifier({ url, secret })] }
}
