import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

// Below the range that systems hand out for outgoing connections, so that a server can come back on its own port.
const LOWEST = 20_000
const HIGHEST = 32_000

/** A TCP port of 127.0.0.1 that nobody listens on at this moment. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, HIGHEST)
    if ((await tryPort(port)) === 'free') return port
  }
}

async function tryPort(port: number): Promise<'free' | 'taken'> {
  const server = createServer()
  return await new Promise((resolve) => {
    server.once('error', () => resolve('taken'))
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve('free')))
  })
}
