import { createHmac, timingSafeEqual } from 'node:crypto'

/** Epoch seconds at which the request was signed. */
export const TIMESTAMP_HEADER = 'cronce-timestamp'

/** `v1=<hex>` of HMAC-SHA256 over `<timestamp>.<body>`; several, separated by commas, while a secret is being changed. */
export const SIGNATURE_HEADER = 'cronce-signature'

/** The id of the notice. Its alarms have ids of their own, the same at every attempt: what receivers tell repeats by. */
export const DELIVERY_HEADER = 'cronce-delivery'

/** How old a signature may be, ms. */
export const SIGNATURE_AGE_MS = 300_000

const LONGEST_HEADER = 2_000

/** The value of {@link SIGNATURE_HEADER}: one signature per secret. */
export function signWebhook({
  secrets,
  timestamp,
  body,
}: {
  secrets: readonly string[]
  timestamp: number
  body: string
}): string {
  return secrets.map((secret) => `v1=${hmac(secret, `${timestamp}.${body}`).toString('hex')}`).join(',')
}

/** What a receiver knows of a request. */
export interface WebhookToVerify {
  /** The value of `cronce-timestamp`; undefined where it was not sent. */
  readonly timestamp: string | undefined
  /** The value of `cronce-signature`; undefined where it was not sent. */
  readonly signature: string | undefined
  /** The body as it came, byte by byte: not parsed and written again. */
  readonly body: string | Uint8Array
  /** The secret; the old and the new one while it is being changed. */
  readonly secrets: readonly string[]
  /** The receiver's clock, epoch ms. */
  readonly now: number
  /** How far the timestamp may be from it, ms. Default 5 minutes. */
  readonly ageMs?: number
}

/**
 * Whether a webhook is ours: compares in constant time, and takes nothing that is old enough to be a replay. Receivers tell
 * repeats within that time by the ids of the alarms.
 *
 * @example
 * const verdict = verifyWebhook({
 *   timestamp: request.headers['cronce-timestamp'], signature: request.headers['cronce-signature'],
 *   body: rawBody, secrets: [secret], now: clock.now(),
 * })
 * if (verdict !== 'valid') return reply.code(401).send()
 */
export function verifyWebhook(request: WebhookToVerify): 'valid' | 'forged' | 'stale' | 'malformed' {
  const { timestamp, signature, body, secrets, now, ageMs = SIGNATURE_AGE_MS } = request
  if (timestamp === undefined || !/^\d{1,12}$/.test(timestamp)) return 'malformed'
  if (signature === undefined || signature.length > LONGEST_HEADER) return 'malformed'
  const given = signature.split(',').flatMap((part) => /^v1=([0-9a-f]{64})$/.exec(part.trim())?.[1] ?? [])
  if (given.length === 0) return 'malformed'
  const signed = Buffer.concat([Buffer.from(`${timestamp}.`), typeof body === 'string' ? Buffer.from(body) : body])
  let matches = 0
  for (const secret of secrets) {
    const expected = hmac(secret, signed)
    for (const text of given) matches += timingSafeEqual(expected, Buffer.from(text, 'hex')) ? 1 : 0
  }
  if (matches === 0) return 'forged'
  return Math.abs(now - Number(timestamp) * 1000) <= ageMs ? 'valid' : 'stale'
}

function hmac(secret: string, text: string | Uint8Array): Buffer {
  return createHmac('sha256', secret).update(text).digest()
}
