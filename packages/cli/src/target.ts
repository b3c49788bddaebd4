import { CronceError, isCronceError } from '@cronce/core'
import { DEFAULT_SERVICE, redisUrlFault } from './config.ts'
import type { Context } from './context.ts'
import { findRunningSystem } from './state-file.ts'

/** Where a command looks. */
export interface Target {
  readonly redisUrl: string
  readonly service: string
}

/**
 * Where Redis is and which service is meant: options first, then the environment, then the running `npm start` that the folder
 * belongs to.
 *
 * @throws CronceError CRONCE_REDIS_UNCONFIGURED, CRONCE_CONFIG_INVALID, CRONCE_USAGE
 */
export function targetOf({ global, environment, folder }: Context): Target {
  const settings = environment()
  const fault = global.redis === undefined ? undefined : redisUrlFault(global.redis)
  if (fault !== undefined) throw new CronceError('CRONCE_USAGE', { reason: `--redis: ${fault}` })
  if (global.service !== undefined && (global.service.trim() === '' || global.service.length > 128)) {
    throw new CronceError('CRONCE_USAGE', { reason: 'expected --service to be a name of 1 to 128 characters' })
  }
  const named = global.redis ?? settings.REDIS_URL
  const running = named === undefined ? findRunningSystem(folder) : undefined
  const redisUrl = named ?? running?.redisUrl
  if (redisUrl === undefined) throw new CronceError('CRONCE_REDIS_UNCONFIGURED', { folder })
  return { redisUrl, service: global.service ?? settings.CRONCE_SERVICE ?? running?.service ?? DEFAULT_SERVICE }
}

/** Whether anything says where Redis is. */
export function isRedisConfigured(context: Context): boolean {
  try {
    targetOf(context)
    return true
  } catch (error) {
    if (isCronceError(error, 'CRONCE_REDIS_UNCONFIGURED')) return false
    throw error
  }
}
