import type { RedisClient } from '@cronce/store'
import { Redis } from 'ioredis'

/** A client that counts what it sends. */
export interface CountedRedis {
  readonly open: () => RedisClient
  /** Commands sent since the last call. */
  take(): number
}

/** Counts the commands that a client sends, as it sends them: what a script does inside Redis is not counted. */
export function countedRedis(url: string): CountedRedis {
  let sent = 0
  return {
    open() {
      const client = new Redis(url, { maxRetriesPerRequest: 1 })
      const send = client.sendCommand.bind(client)
      client.sendCommand = (command, stream) => {
        sent += 1
        return send(command, stream)
      }
      return client
    },
    take() {
      const count = sent
      sent = 0
      return count
    },
  }
}
