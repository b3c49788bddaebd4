import { Redis } from 'ioredis'
import { freePort } from './free-port.ts'
import { type RedisServer, startRedis } from './redis-server.ts'
import { waitUntil } from './wait-until.ts'

const SLOTS = 16_384

export interface RedisCluster {
  /** The masters, each with a third of the slots. They can be killed and restarted one by one. */
  readonly masters: readonly RedisServer[]
  /** What `new Cluster(...)` of ioredis takes. */
  readonly nodes: readonly { readonly host: string; readonly port: number }[]
  stop(): Promise<void>
}

/**
 * Three real masters on loopback, without replicas, joined and ready: every slot is served and every node says so.
 * Needs a redis-server binary of version 7 or later; see {@link needs}.
 *
 * @example
 * const cluster = await startRedisCluster()
 * const redis = new Cluster([...cluster.nodes])
 */
export async function startRedisCluster(): Promise<RedisCluster> {
  const masters = await Promise.all([startMaster(), startMaster(), startMaster()])
  const stop = async () => void (await Promise.all(masters.map((master) => master.stop())))
  try {
    await join(masters)
  } catch (error) {
    await stop()
    throw error
  }
  return { masters, nodes: masters.map(({ port }) => ({ host: '127.0.0.1', port })), stop }
}

async function startMaster(): Promise<RedisServer> {
  const master = await startRedis({ mode: 'cluster', config: { 'cluster-port': String(await freePort()) } })
  if (master.owner === 'own') return master
  throw new Error('a cluster needs a redis-server binary')
}

async function join(masters: readonly RedisServer[]): Promise<void> {
  const clients = masters.map(({ port }) => new Redis({ host: '127.0.0.1', port }))
  try {
    const [first] = masters
    const busPort = String((await clients[0]?.config('GET', 'cluster-port'))?.[1])
    for (const [index, client] of clients.entries()) {
      const from = Math.floor((index * SLOTS) / clients.length)
      const to = Math.floor(((index + 1) * SLOTS) / clients.length) - 1
      await client.call('CLUSTER', 'ADDSLOTSRANGE', from, to)
      if (index > 0) await client.call('CLUSTER', 'MEET', '127.0.0.1', String(first?.port), busPort)
    }
    await waitUntil(
      async () => (await Promise.all(clients.map((client) => joined(client, clients.length)))).every(Boolean),
      {
        message: 'every master serving with the others',
        timeoutMs: 20_000,
      },
    )
  } finally {
    for (const client of clients) client.disconnect()
  }
}

async function joined(client: Redis, size: number): Promise<boolean> {
  const info = String(await client.call('CLUSTER', 'INFO'))
  return info.includes('cluster_state:ok') && info.includes(`cluster_size:${size}`)
}
