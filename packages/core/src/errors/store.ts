import type { ErrorEntry } from './catalogue.ts'

/** Redis and Postgres, their reach and their settings. */
export const STORE_ERRORS = {
  CRONCE_REDIS_KEY_PREFIX: {
    message: 'expected an ioredis client without keyPrefix, got keyPrefix "{prefix}"',
    fix: 'Remove keyPrefix and set `service`, which is in every key.',
  },
  CRONCE_REDIS_UNREACHABLE: {
    message: 'Redis at {address} did not answer within {timeoutMs} ms: {reason}',
    fix: 'Check that it runs and that REDIS_URL names it.',
  },
  CRONCE_REDIS_UNSAFE: {
    message: 'Redis at {address} is not safe for claims: {reason}',
    fix: 'Set maxmemory-policy noeviction, or accept the risk by name in the configuration.',
  },
} as const satisfies Record<string, ErrorEntry>
