import { runFromSource } from './source-run.mjs'

/**
 * The simulation on a virtual clock.
 *
 * @param {string[]} args
 */
export async function simulate(args) {
  return await runFromSource('test/simulation/main.ts', args)
}
