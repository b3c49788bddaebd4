import { connect, createServer, type Socket } from 'node:net'

/** What a proxy does with the connections that go through it. */
export type ProxyMode =
  /** Passes bytes both ways. */
  | 'pass'
  /** Passes nothing, tells nobody: as a cable that was pulled, or a firewall that forgot a connection. */
  | 'black-hole'

/** A TCP proxy between a client and a server on 127.0.0.1 that can go wrong the ways networks do. */
export interface HalfOpenProxy {
  readonly port: number
  readonly url: string
  /** Live connections. */
  readonly connections: number
  /**
   * For live connections and for those to come. Connections that were black-holed once stay so: what they lost is lost, and a
   * `pass` is for new ones.
   */
  setMode(mode: ProxyMode): void
  /** Resets every live connection. */
  cut(): void
  close(): Promise<void>
}

/** Starts a proxy to a port of 127.0.0.1, in mode `pass`. */
export async function startProxy(targetPort: number): Promise<HalfOpenProxy> {
  let mode: ProxyMode = 'pass'
  const pairs = new Set<{ client: Socket; server: Socket }>()
  const listener = createServer((client) => {
    const server = connect({ port: targetPort, host: '127.0.0.1' })
    const pair = { client, server }
    pairs.add(pair)
    const end = () => {
      pairs.delete(pair)
      client.destroy()
      server.destroy()
    }
    for (const socket of [client, server]) socket.setNoDelay(true).on('error', end).on('close', end)
    if (mode === 'black-hole') return
    client.pipe(server)
    server.pipe(client)
  })
  const port = await new Promise<number>((resolve) => {
    listener.listen(0, '127.0.0.1', () => {
      const address = listener.address()
      resolve(typeof address === 'object' && address !== null ? address.port : 0)
    })
  })
  const setMode = (next: ProxyMode) => {
    mode = next
    if (mode === 'pass') return
    for (const { client, server } of pairs) {
      client.unpipe(server).pause()
      server.unpipe(client).pause()
    }
  }
  const cut = () => {
    for (const { client, server } of pairs) {
      client.resetAndDestroy()
      server.resetAndDestroy()
    }
  }
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    get connections() {
      return pairs.size
    },
    setMode,
    cut,
    async close() {
      cut()
      await new Promise<void>((resolve) => void listener.close(() => resolve()))
    },
  }
}
