import { type Clock, CronceError, describeValue, type Fault, systemClock } from '@cronce/core'
import type { AlarmNotice, Notifier } from './notifier.ts'
import { redactUrl } from './redact-url.ts'
import { sendRequest } from './send-request.ts'
import { DELIVERY_HEADER, SIGNATURE_HEADER, signWebhook, TIMESTAMP_HEADER } from './webhook-signature.ts'

/** How long a receiver may take to answer, ms. */
export const DEFAULT_WEBHOOK_TIMEOUT_MS = 10_000

const LEAST_SECRET = 16

export interface WebhookOptions {
  /** Where alarms are posted; http or https. Its path is never logged. */
  readonly url: string
  /** Signs every request; at least 16 characters. Two while it is being changed: receivers take either. */
  readonly secret: string | readonly string[]
  /** Its name in events and in the journal. Default: the origin of the URL. */
  readonly name?: string
  /** How long a receiver may take to answer, ms. Default 10 s. */
  readonly timeoutMs?: number
  /** Default: the machine's clock; receivers compare the timestamp with theirs. */
  readonly clock?: Clock
}

/**
 * Tells alarms by signed HTTP: `POST` of `{ id, service, sentAt, alarms: [{ id, event, at, key, kind, job, slot, sinceAt, reason,
 * raisedAt, by }] }`, instants in ISO 8601, with the headers of `webhook-signature`. Delivered at least once; see {@link Notifier}.
 *
 * @throws CronceError CRONCE_WATCHDOG_INVALID
 * @example webhookNotifier({ url: 'https://ops.example.com/cronce', secret: config.alarmSecret })
 */
export function webhookNotifier(options: WebhookOptions): Notifier {
  const { url, timeoutMs = DEFAULT_WEBHOOK_TIMEOUT_MS, clock = systemClock } = options
  const secrets = typeof options.secret === 'string' ? [options.secret] : options.secret
  const faults = [...urlFaults('url', url), ...secretFaults(secrets)]
  if (faults.length > 0) {
    const summary = faults.map(({ path, message }) => `${path}: ${message}`).join('; ')
    throw new CronceError('CRONCE_WATCHDOG_INVALID', { count: faults.length, summary }, { faults })
  }
  return {
    name: options.name ?? redactUrl(url),
    async notify(notice) {
      const now = clock.now()
      const body = JSON.stringify(bodyOf(notice, now))
      const timestamp = Math.floor(now / 1000)
      const headers = {
        'content-type': 'application/json',
        'user-agent': 'cronce',
        [TIMESTAMP_HEADER]: String(timestamp),
        [SIGNATURE_HEADER]: signWebhook({ secrets, timestamp, body }),
        [DELIVERY_HEADER]: notice.id,
      }
      await sendRequest({ url, method: 'POST', headers, body, timeoutMs })
    },
  }
}

/** What is wrong with a URL that requests go to; its text is not shown. */
export function urlFaults(path: string, url: unknown): Fault[] {
  const isUrl = typeof url === 'string' && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)
  if (isUrl) return []
  return [
    {
      path,
      message: `expected a URL that begins with http:// or https://, got ${typeof url === 'string' ? 'another text' : describeValue(url)}`,
    },
  ]
}

function secretFaults(secrets: unknown): Fault[] {
  const isSound =
    Array.isArray(secrets) &&
    secrets.length > 0 &&
    secrets.every((secret) => typeof secret === 'string' && secret.length >= LEAST_SECRET)
  return isSound ? [] : [{ path: 'secret', message: `expected at least ${LEAST_SECRET} characters, got less` }]
}

function bodyOf({ id, service, alarms }: AlarmNotice, now: number) {
  const iso = (at: number) => new Date(at).toISOString()
  return {
    ...{ id, service, sentAt: iso(now) },
    alarms: alarms.map(({ id: alarm, event, at, key, kind, job, slot, sinceAt, reason, raisedAt, by }) => ({
      ...{ id: alarm, event, at: iso(at), key, kind, job: job ?? null, slot: slot ?? null },
      ...{ sinceAt: iso(sinceAt), reason, raisedAt: iso(raisedAt), by },
    })),
  }
}
