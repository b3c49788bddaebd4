import { findProgram } from './program.mjs'
import { fetchRedisBinary } from './redis-apt.mjs'
import { isDockerRunning, startRedisContainer } from './redis-docker.mjs'
import { REDIS_HINTS } from './redis-hints.mjs'
import { startRedisProcess } from './redis-process.mjs'
import { SetupError } from './setup-error.mjs'

/** @typedef {{ url: string, stop(): Promise<void> }} Redis */

/**
 * A Redis to work on, by the first way that is open: `REDIS_URL`, a redis-server on the PATH, Docker, Debian's packages.
 * Never one that merely happens to listen somewhere. Unless it was given, it is ours alone and ends with us.
 *
 * @returns {Promise<Redis>}
 */
export async function openRedis() {
  const given = process.env['REDIS_URL']
  if (given) return { url: given, stop: async () => {} }
  const onPath = binaryOnPath()
  if (onPath !== undefined) return await startRedisProcess(onPath)
  if (await isDockerRunning()) return await startRedisContainer()
  const fetched = await fetchRedisBinary()
  if (fetched !== undefined) return await startRedisProcess(fetched)
  throw new SetupError(REDIS_HINTS, 2)
}

/**
 * What tests need to know to start servers of their own. They prefer a binary to `REDIS_URL`: they kill, freeze and fill
 * their servers, and that is nothing to do to one that was given.
 *
 * @returns {Promise<Record<string, string>>}
 */
export async function redisForTests() {
  const onPath = binaryOnPath()
  if (onPath !== undefined) return { CRONCE_REDIS_SERVER: onPath }
  if (process.env['REDIS_URL'] || (await isDockerRunning())) {
    process.stderr.write('no redis-server binary: tests that kill Redis are skipped\n')
    return {}
  }
  const fetched = await fetchRedisBinary()
  if (fetched !== undefined) return { CRONCE_REDIS_SERVER: fetched }
  throw new SetupError(REDIS_HINTS, 2)
}

function binaryOnPath() {
  return findProgram('redis-server') ?? findProgram('valkey-server')
}
