import { createServer, type IncomingHttpHeaders } from 'node:http'

/** What a receiver does with a request: answers so, never answers, or cuts the connection. */
export type Answer = number | 'black-hole' | 'cut'

/** A request as it came. */
export interface Received {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** An HTTP server that obeys a script. */
export interface ScriptedReceiver {
  readonly url: string
  readonly received: readonly Received[]
  /** What the next requests get, one each; afterwards 200. */
  script(...answers: Answer[]): void
  /** What every request gets from now on. */
  always(answer: Answer): void
  close(): Promise<void>
}

export async function startReceiver(): Promise<ScriptedReceiver> {
  const received: Received[] = []
  let next: Answer[] = []
  let otherwise: Answer = 200
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request
      received.push({ method, path, headers, body: Buffer.concat(parts).toString() })
      const answer = next.shift() ?? otherwise
      if (answer === 'cut') request.socket.destroy()
      else if (answer !== 'black-hole') response.writeHead(answer).end('thanks')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    received,
    script: (...answers) => {
      next = answers
    },
    always: (answer) => {
      otherwise = answer
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
