import { runInForeground } from '../bootstrap/foreground.mjs'
import { setUp } from '../bootstrap/setup.mjs'

/**
 * The command line from a checkout. It needs no Redis of ours: `REDIS_URL` or the state file of a running `npm start`
 * says where.
 *
 * @param {string[]} args
 */
export async function cronce(args) {
  await setUp()
  return await runInForeground(['packages/cli/dist/bin.js', ...args])
}
