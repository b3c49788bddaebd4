import { bench } from './commands/bench.mjs'
import { check } from './commands/check.mjs'
import { cronce } from './commands/cronce.mjs'
import { screenshots } from './commands/screenshots.mjs'
import { simulate } from './commands/simulate.mjs'
import { start } from './commands/start.mjs'
import { test } from './commands/test.mjs'

/** @type {Record<string, (args: string[]) => Promise<number>>} */
const COMMANDS = { start, test, check, bench, simulate, cronce, screenshots }

/**
 * Runs one command and answers its exit code.
 *
 * @param {string | undefined} name
 * @param {string[]} args
 */
export async function run(name, args) {
  const command = COMMANDS[name ?? '']
  if (command !== undefined) return await command(args)
  console.error(`expected one of ${Object.keys(COMMANDS).join(', ')}, got ${name ?? 'nothing'}`)
  return 2
}
