import { runInForeground } from '../bootstrap/foreground.mjs'
import { openPostgres } from '../bootstrap/postgres.mjs'
import { openRedis } from '../bootstrap/redis.mjs'
import { setUp } from '../bootstrap/setup.mjs'

/**
 * The system on one machine: the demo, on a Redis of its own; its long run on a Postgres of its own as well, for the receipts.
 *
 * @param {string[]} args
 */
export async function start(args) {
  await setUp()
  const redis = await openRedis()
  const postgres = args.some((arg) => /^--entities\b/.test(arg)) ? await openPostgres() : undefined
  try {
    const urls = { REDIS_URL: redis.url, ...(postgres === undefined ? {} : { POSTGRES_URL: postgres.url }) }
    return await runInForeground(['apps/demo/dist/main.js', ...args], urls)
  } finally {
    await postgres?.stop()
    await redis.stop()
  }
}
