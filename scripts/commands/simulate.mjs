import { runFromSource } from './source-run.mjs'

/**
 * The simulation on a virtual clock.
 *
 * @param {string[]} args
 */
export async function simulate(args) {
  // Millions of commands are much garbage that lives for a moment.
  return await runFromSource('test/simulation/main.ts', args, ['--max-semi-space-size=64'])
}
