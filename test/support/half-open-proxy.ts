import { connect, createServer, type Socket } from 'node:net'

/** A TCP proxy between a client and a server on 127.0.0.1 that can go wrong in the ways networks do. */
export interface HalfOpenProxy {
  readonly port: number
  readonly url: string
  /** Live connections. */
  readonly connections: number
  /** Holds every byte back for this long, in either direction, from now on. 0: none. */
  delay(delayMs: number): void
  /** Live connections pass nothing more and tell nobody, as when a firewall forgot them. New ones are as ever. */
  forget(): void
  /** Resets every live connection. */
  cut(): void
  close(): Promise<void>
}

interface Pair {
  readonly sockets: readonly [client: Socket, server: Socket]
  isForgotten: boolean
}

/** Starts a proxy to a port of 127.0.0.1. */
export async function startProxy(targetPort: number): Promise<HalfOpenProxy> {
  let delayMs = 0
  const pairs = new Set<Pair>()
  const listener = createServer((client) => {
    const server = connect({ port: targetPort, host: '127.0.0.1' })
    const pair: Pair = { sockets: [client, server], isForgotten: false }
    pairs.add(pair)
    const end = () => {
      pairs.delete(pair)
      client.destroy()
      server.destroy()
    }
    for (const socket of pair.sockets) socket.setNoDelay(true).on('error', end).on('close', end)
    const forward = (from: Socket, to: Socket) => {
      let freeAt = 0
      from.on('data', (bytes) => {
        const send = () => void (pair.isForgotten || to.destroyed || to.write(bytes))
        // Never before what came before it, also when the delay has changed meanwhile.
        freeAt = Math.max(freeAt, performance.now() + delayMs)
        if (freeAt <= performance.now()) send()
        else setTimeout(send, freeAt - performance.now())
      })
    }
    forward(client, server)
    forward(server, client)
  })
  const port = await new Promise<number>((resolve) => {
    listener.listen(0, '127.0.0.1', () => {
      const address = listener.address()
      resolve(typeof address === 'object' && address !== null ? address.port : 0)
    })
  })
  const cut = () => {
    for (const { sockets } of pairs) for (const socket of sockets) socket.resetAndDestroy()
  }
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    get connections() {
      return pairs.size
    },
    delay: (nextMs) => {
      delayMs = nextMs
    },
    forget: () => {
      for (const pair of pairs) pair.isForgotten = true
    },
    cut,
    async close() {
      cut()
      await new Promise<void>((resolve) => void listener.close(() => resolve()))
    },
  }
}
