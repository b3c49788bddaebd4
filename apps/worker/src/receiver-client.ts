import { Agent, request as httpRequest } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'

/** The API that the handlers' effects go to. */
export interface ReceiverClient {
  /**
   * Makes an effect happen, once per key whatever is repeated.
   * @throws ReceiverRefused where it answers with anything but success; what node throws where it does not answer
   */
  deliver(effect: Effect): Promise<void>
  /** Tells that a run starts. Without a key, so that a second start is seen there. */
  tellStart(start: { slot: string; attempt: number; signal: AbortSignal }): Promise<void>
  close(): void
}

export interface Effect {
  readonly key: string
  readonly slot: string
  readonly entity: string
  readonly content: unknown
  readonly signal: AbortSignal
}

/** The receiver answered, and not with success. */
export class ReceiverRefused extends Error {
  override readonly name = 'ReceiverRefused'
  readonly status: number

  constructor(status: number) {
    super(`HTTP ${status} from the receiver`)
    this.status = status
  }
}

/** More at once than any worker works on; connections are kept between calls. */
const MOST_CONNECTIONS = 64

export function createReceiverClient(url: string): ReceiverClient {
  const isHttps = new URL(url).protocol === 'https:'
  const options = { keepAlive: true, maxSockets: MOST_CONNECTIONS }
  const agent = isHttps ? new HttpsAgent(options) : new Agent(options)
  const request = isHttps ? httpsRequest : httpRequest

  function post(
    path: string,
    call: { body: object; headers?: Record<string, string>; signal: AbortSignal },
  ): Promise<void> {
    const body = JSON.stringify(call.body)
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...call.headers }
    return new Promise((resolve, reject) => {
      const sent = request(new URL(path, url), { method: 'POST', agent, headers, signal: call.signal }, (response) => {
        response.resume()
        response.on('error', reject)
        response.on('end', () => {
          const status = response.statusCode ?? 0
          if (status >= 200 && status < 300) resolve()
          else reject(new ReceiverRefused(status))
        })
      })
      sent.on('error', reject)
      sent.end(body)
    })
  }

  return {
    deliver: ({ key, slot, entity, content, signal }) =>
      post('/effects', { body: { slot, entity, content }, headers: { 'idempotency-key': key }, signal }),
    tellStart: ({ slot, attempt, signal }) => post('/starts', { body: { slot, attempt }, signal }),
    close: () => agent.destroy(),
  }
}
