import { CronceError } from '@cronce/core'
import { redactUrl } from './redact-url.ts'

/** What goes out to a URL. */
export interface OutgoingRequest {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly timeoutMs: number
}

/**
 * Sends one request and takes 2xx for an answer; redirects are not followed, they would carry the body to a stranger.
 *
 * @throws CronceError CRONCE_DELIVERY_FAILED, without the path and query of the URL
 */
export async function sendRequest({ url, method, headers = {}, body, timeoutMs }: OutgoingRequest): Promise<void> {
  const target = redactUrl(url)
  let status: number
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    const response = await fetch(url, {
      method,
      headers,
      redirect: 'manual',
      signal,
      ...(body === undefined ? {} : { body }),
    })
    status = response.status
    await response.body?.cancel()
  } catch (error) {
    throw new CronceError('CRONCE_DELIVERY_FAILED', { target, reason: reasonOf(error, timeoutMs) })
  }
  if (status < 200 || status > 299)
    throw new CronceError('CRONCE_DELIVERY_FAILED', { target, reason: `it answered ${status}` })
}

/** What fetch says is hidden in the cause; a code says it without the URL. */
function reasonOf(error: unknown, timeoutMs: number): string {
  if (!(error instanceof Error)) return 'the request failed'
  if (error.name === 'TimeoutError') return `no answer within ${timeoutMs} ms`
  const { code } = (error.cause ?? {}) as { code?: unknown }
  return typeof code === 'string' ? code : 'the request failed'
}
