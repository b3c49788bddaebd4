import { runInForeground } from '../bootstrap/foreground.mjs'
import { openRedis } from '../bootstrap/redis.mjs'
import { setUp } from '../bootstrap/setup.mjs'

/**
 * The system on one machine: the demo, on a Redis of its own.
 *
 * @param {string[]} args
 */
export async function start(args) {
  await setUp()
  const redis = await openRedis()
  try {
    return await runInForeground(['apps/demo/dist/main.js', ...args], { REDIS_URL: redis.url })
  } finally {
    await redis.stop()
  }
}
