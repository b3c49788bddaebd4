import { connect, type RedisSource } from '@cronce/store'

/** Asks Redis whether it is there, on a connection of its own: those of the worker wait for it, however long it is away. */
export interface RedisProbe {
  ask(): Promise<'there' | 'away'>
  close(): void
}

const ANSWER_WITHIN_MS = 1_000

export function openRedisProbe(source: RedisSource): RedisProbe {
  const redis = connect(source, 'producer')
  // ioredis repeats here what every command already rejects with; without a listener it would end the process.
  redis.on('error', () => undefined)
  return {
    async ask() {
      const timeout = AbortSignal.timeout(ANSWER_WITHIN_MS)
      const late = new Promise<'away'>((resolve) => timeout.addEventListener('abort', () => resolve('away')))
      return await Promise.race([
        redis.ping().then(
          () => 'there' as const,
          () => 'away' as const,
        ),
        late,
      ])
    },
    close: () => redis.disconnect(),
  }
}
