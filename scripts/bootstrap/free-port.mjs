import { createServer } from 'node:net'

/**
 * A port of 127.0.0.1 that nobody listens on now.
 *
 * @returns {Promise<number>}
 */
export async function freePort() {
  return await new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen({ port: 0, host: '127.0.0.1' }, () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}
