import { join } from 'node:path'
import { ROOT } from '../bootstrap/folders.mjs'
import { runFromSource } from './source-run.mjs'

/**
 * Pictures of every view of the console: `npm run screenshots -- <folder>`.
 *
 * @param {string[]} args
 */
export async function screenshots(args) {
  return await runFromSource(join(ROOT, 'test', 'browser', 'screenshots.ts'), args)
}
