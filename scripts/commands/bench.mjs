import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../bootstrap/folders.mjs'
import { runFromSource } from './source-run.mjs'

const FOLDER = join(ROOT, 'test', 'bench')

/**
 * One benchmark by name: `npm run bench -- claim --count 1000`.
 *
 * @param {string[]} args
 */
export async function bench([name, ...args]) {
  const names = benchNames()
  if (name !== undefined && names.includes(name)) return await runFromSource(join(FOLDER, `${name}.ts`), args)
  if (name !== undefined) console.error(`there is no benchmark "${name}"`)
  console.error(`usage: npm run bench -- <name> [arguments]\nnames: ${names.join(', ') || 'none yet'}`)
  return 2
}

function benchNames() {
  if (!existsSync(FOLDER)) return []
  const files = readdirSync(FOLDER, { withFileTypes: true }).filter((entry) => entry.isFile())
  return files.map(({ name }) => /^([a-z0-9-]+)\.ts$/.exec(name)?.[1]).filter((name) => name !== undefined)
}
