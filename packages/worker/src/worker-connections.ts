import { CronceError, isCronceError } from '@cronce/core'
import { addressOf, COMMAND_TIMEOUT_MS, checkRedis, connect, type RedisClient } from '@cronce/store'
import { describeThrown } from './thrown-value.ts'
import type { WorkerOptions } from './worker-options.ts'

export interface WorkerConnections {
  /** Fails fast: heartbeats, sweeps, and adding tasks. */
  readonly producer: RedisClient
  /** Waits for Redis: taking tasks, and writing what became of them. */
  readonly consumer: RedisClient
  cut(): void
}

/**
 * Opens a worker's connections, once Redis was found safe.
 *
 * @throws CronceError CRONCE_REDIS_KEY_PREFIX, CRONCE_REDIS_UNSAFE, CRONCE_REDIS_UNREACHABLE
 */
export async function openConnections(
  options: WorkerOptions,
  warn: (text: string) => void,
): Promise<WorkerConnections> {
  const clients: RedisClient[] = []
  const open = (profile: 'producer' | 'consumer') => {
    const client = connect(options.redis, profile)
    // ioredis repeats here what commands reject with, and what the connection gets over by itself.
    client.on('error', () => undefined)
    clients.push(client)
    return client
  }
  const cut = () => {
    for (const client of clients) client.disconnect()
  }
  const producer = open('producer')
  try {
    for (const { text, fix } of await checkRedis(producer, options.accept ?? [])) warn(`${text}; ${fix}`)
    return { producer, consumer: open('consumer'), cut }
  } catch (error) {
    cut()
    if (isCronceError(error)) throw error
    const fields = {
      address: addressOf(producer),
      timeoutMs: COMMAND_TIMEOUT_MS,
      reason: describeThrown(error).message,
    }
    throw new CronceError('CRONCE_REDIS_UNREACHABLE', fields, { cause: error })
  }
}
