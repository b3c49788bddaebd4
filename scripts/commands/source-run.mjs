import { runInForeground } from '../bootstrap/foreground.mjs'
import { openRedis } from '../bootstrap/redis.mjs'
import { setUp } from '../bootstrap/setup.mjs'

/**
 * Runs a TypeScript file of the project from sources, with a Redis.
 *
 * @param {string} file
 * @param {string[]} args
 * @param {string[]} nodeArgs
 */
export async function runFromSource(file, args, nodeArgs = []) {
  await setUp()
  const redis = await openRedis()
  try {
    const loader = [...nodeArgs, '--conditions=@cronce/source', '--import', 'tsx']
    return await runInForeground([...loader, file, ...args], { REDIS_URL: redis.url })
  } finally {
    await redis.stop()
  }
}
