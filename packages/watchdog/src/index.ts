export type { AlarmEntry } from '@cronce/store'
export { createWatchdog, type Watchdog, type WatchdogLook, type WatchdogOptions } from './create-watchdog.ts'
export { type JobFigures, readJobFigures } from './job-figures.ts'
export type { AlarmNotice, Notifier } from './notifier.ts'
export { type Overdue, type ScheduleHealth, scheduleHealth } from './schedule-health.ts'
export { checkSettings, DEFAULT_INTERVAL_MS, type WatchdogSettings } from './watchdog-options.ts'
export { DEFAULT_WEBHOOK_TIMEOUT_MS, type WebhookOptions, webhookNotifier } from './webhook-notifier.ts'
export {
  DELIVERY_HEADER,
  SIGNATURE_AGE_MS,
  SIGNATURE_HEADER,
  TIMESTAMP_HEADER,
  verifyWebhook,
  type WebhookToVerify,
} from './webhook-signature.ts'
