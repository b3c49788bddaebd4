import { request } from 'node:http'

/** A request as it goes over the wire: the path is sent as it stands, and headers may come twice. */
export interface WireRequest {
  readonly url: string
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly body?: string | Buffer
  /** One of this machine's addresses, 127.0.0.0/8. */
  readonly from?: string
}

export interface WireAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  /** The error that it says; undefined where it says none. */
  readonly error: { readonly code: string; readonly message: string; readonly state?: string } | undefined
  readonly json: unknown
}

/** Asks once, on a connection of its own. */
export function ask({ url, method = 'GET', path, headers = {}, body, from }: WireRequest): Promise<WireAnswer> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        ...{ hostname, port, method, path, agent: false },
        headers: {
          ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
          ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value as string | string[]])),
        },
        ...(from === undefined ? {} : { localAddress: from }),
      },
      (answer) => {
        const parts: Buffer[] = []
        answer.on('data', (part: Buffer) => parts.push(part))
        answer.on('error', reject)
        answer.on('end', () => {
          const text = Buffer.concat(parts).toString()
          const json = parse(text)
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text, json, error: errorOf(json) })
        })
      },
    )
    sent.on('error', reject)
    sent.end(body)
  })
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

function errorOf(json: unknown): WireAnswer['error'] {
  return typeof json === 'object' && json !== null && 'error' in json ? (json.error as WireAnswer['error']) : undefined
}
