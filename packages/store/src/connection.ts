import { CronceError } from '@cronce/core'
import { Cluster, type RedisOptions as IoRedisOptions, Redis } from 'ioredis'

/** ioredis options, but for the shape of its replies, which is ours to rely on. */
export type RedisOptions = Omit<IoRedisOptions, 'replyMapping'>

/** A connection to Redis: one server (or Sentinel), or a cluster. */
export type RedisClient = Redis | Cluster

/**
 * Where Redis is: a URL, ioredis options, or a function that makes ioredis clients (for Sentinel and Cluster). A client with
 * `keyPrefix` is refused: it would prefix some keys and not those that scripts build.
 */
export type RedisSource = string | RedisOptions | (() => RedisClient)

/** How a connection behaves when Redis is away. */
export type ConnectionProfile =
  /** Fails fast: a tick or a command would rather know than wait. */
  | 'producer'
  /** Waits for ever: a worker has nothing else to do (BullMQ demands `maxRetriesPerRequest: null`). */
  | 'consumer'

/** How long a producer's command may take before it fails; a frozen Redis answers nothing at all. */
export const COMMAND_TIMEOUT_MS = 5_000

/**
 * How long a connection that waits for an answer may hear nothing before it is taken for dead and opened anew: one that a firewall
 * forgot says nothing, and the system would wait for it for a quarter of an hour (C65). A worker's longest blocking wait is 10 s.
 */
const SILENCE_MS: Readonly<Record<ConnectionProfile, number>> = { producer: COMMAND_TIMEOUT_MS, consumer: 15_000 }

/**
 * Opens a connection.
 *
 * @throws CronceError CRONCE_REDIS_KEY_PREFIX
 */
export function connect(source: RedisSource, profile: ConnectionProfile): RedisClient {
  const socketTimeout = SILENCE_MS[profile]
  const options: RedisOptions =
    profile === 'producer'
      ? {
          maxRetriesPerRequest: 1,
          commandTimeout: COMMAND_TIMEOUT_MS,
          connectTimeout: COMMAND_TIMEOUT_MS,
          socketTimeout,
          // What is sent in one turn of the loop goes out in one write: a thousand claims would be a thousand.
          enableAutoPipelining: true,
          retryStrategy,
        }
      : { maxRetriesPerRequest: null, socketTimeout, retryStrategy }
  const client = open(source, options)
  const prefix = client.options.keyPrefix
  if (prefix) {
    client.disconnect()
    throw new CronceError('CRONCE_REDIS_KEY_PREFIX', { prefix })
  }
  return client
}

function open(source: RedisSource, options: RedisOptions): RedisClient {
  if (typeof source === 'function') return takeOver(source(), options)
  if (typeof source === 'string') return new Redis(source, options)
  return new Redis({ ...source, ...options })
}

/** A client made by somebody else keeps its options; only where it has none it learns to notice a dead connection. */
function takeOver(client: RedisClient, { socketTimeout = 0 }: RedisOptions): RedisClient {
  const guard = (node: Redis) => void (node.options.socketTimeout ??= socketTimeout)
  if (client instanceof Cluster) client.on('+node', guard).nodes().forEach(guard)
  else guard(client)
  return client
}

/** Reconnects for ever, soon at first and at most every two seconds, so that a return is noticed within one sweep. */
function retryStrategy(times: number): number {
  return Math.min(times * 100, 2_000)
}

/** Where a connection leads, without its password: for messages. */
export function addressOf(client: RedisClient): string {
  if (client instanceof Cluster) return 'the cluster'
  const { host, port, path } = client.options
  return path ?? `${host ?? '127.0.0.1'}:${port ?? 6379}`
}
