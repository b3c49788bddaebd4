import { createHash, randomBytes } from 'node:crypto'
import { type Clock, CronceError } from '@cronce/core'
import { SIGNATURE_AGE_MS, SIGNATURE_HEADER, TIMESTAMP_HEADER, verifyWebhook } from '@cronce/watchdog'
import type { FastifyRequest } from 'fastify'
import type { TriggerSecrets } from './trigger-text.ts'

/** A request whose signature is right. */
export interface SignedRequest {
  /** Of the signature: it is taken once. */
  readonly mark: string
  /** Of what was asked for, whenever and however signed. */
  readonly digest: string
}

/** How far the clocks of two consoles may be apart: what the one took is not new to the other. */
const CONSOLES_APART_MS = 60_000

/** How long a used signature is remembered: longer than any console takes it for new, by a clock that is off to either side. */
export const SIGNATURE_KEPT_MS = 2 * SIGNATURE_AGE_MS + CONSOLES_APART_MS

/** Jobs have different numbers of secrets; a job that has none takes as long to refuse. */
const SECRETS_COMPARED = 4

/**
 * Checks a request as a webhook of ours is checked, with method and path before the body:
 * HMAC-SHA256 of `<timestamp>.<METHOD> <path>\n<body>`. Every refusal is the same, whether the job exists or not.
 */
export function createSignatureCheck(options: {
  secrets: TriggerSecrets
  clock: Clock
}): (request: FastifyRequest, signed: { job: string; body: Buffer }) => SignedRequest {
  const { secrets, clock } = options
  const none = randomBytes(32).toString('hex')
  return (request, { job, body }) => {
    const { method, url, headers } = request
    const text = Buffer.concat([Buffer.from(`${method} ${url}\n`), body])
    const own = secrets.get(job) ?? []
    const compared = [...own, ...Array.from({ length: SECRETS_COMPARED - own.length }, () => none)]
    const timestamp = textOf(headers[TIMESTAMP_HEADER])
    const signature = textOf(headers[SIGNATURE_HEADER])
    const verdict = verifyWebhook({ timestamp, signature, body: text, secrets: compared, now: clock.now() })
    if (verdict !== 'valid') throw new CronceError('CRONCE_TRIGGER_SIGNATURE', { reason: REASONS[verdict] })
    return {
      mark: digestOf(`${timestamp}.${job}.`, text),
      digest: digestOf(text),
    }
  }
}

/** Only who has the secret is told that the signature is stale. */
const REASONS = {
  malformed: `the headers ${TIMESTAMP_HEADER} (epoch seconds) and ${SIGNATURE_HEADER} (v1=<hex>)`,
  forged: 'a signature by a secret of this job',
  stale: `a ${TIMESTAMP_HEADER} within ${SIGNATURE_AGE_MS / 60_000} minutes of now`,
} as const

function digestOf(...parts: readonly (string | Buffer)[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('base64url')
}

function textOf(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}
