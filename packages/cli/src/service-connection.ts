import { closeAccess, openAccess, requireService, type ServiceAccess } from '@cronce/operations'
import { addressOf, connect, type RedisClient } from '@cronce/store'
import type { Context } from './context.ts'
import { asRedisFailure, within } from './redis-failure.ts'
import { targetOf } from './target.ts'

/** How long Redis may take to say anything at all. */
const DEADLINE_MS = 3_000

/** Works on the Redis that the options, the environment or a running system name. */
export async function withRedis<T>(context: Context, work: (redis: RedisClient) => Promise<T>): Promise<T> {
  const redis = connect(targetOf(context).redisUrl, 'producer')
  // ioredis tells every failed connection here; the command that fails tells it to us.
  let lastError: unknown
  redis.on('error', (error) => {
    lastError = error
  })
  try {
    await within(redis.ping(), { deadlineMs: DEADLINE_MS, clock: context.clock })
    return await work(redis)
  } catch (error) {
    throw asRedisFailure(error, { lastError, address: addressOf(redis), deadlineMs: DEADLINE_MS })
  } finally {
    redis.disconnect()
  }
}

/**
 * Works on a service that Redis knows.
 *
 * @throws CronceError CRONCE_SERVICE_UNKNOWN, CRONCE_REDIS_UNREACHABLE, CRONCE_REDIS_REFUSED, CRONCE_REDIS_UNCONFIGURED
 */
export async function withService<T>(context: Context, work: (access: ServiceAccess) => Promise<T>): Promise<T> {
  const { service } = targetOf(context)
  return await withRedis(context, async (redis) => {
    const access = openAccess({
      ...{ redis, service },
      onFault: (_, what) => context.terminal.err(` ${what}\n`),
    })
    try {
      await requireService(access.store)
      return await work(access)
    } finally {
      await closeAccess(access)
    }
  })
}
