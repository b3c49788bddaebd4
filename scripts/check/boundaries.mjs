import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../bootstrap/folders.mjs'
import { runProgram } from '../bootstrap/program.mjs'

// Without a TypeScript compiler beside it, dependency-cruiser sees no module and finds no fault: hence the count.
const FOLDERS = ['packages', 'apps', 'test']
const args = ['--config', '.dependency-cruiser.mjs', '--output-type', 'json', ...FOLDERS]
const { code, output, stdout } = await runProgram('depcruise', args)
const { modules, summary } = parse(stdout)
const cruised = new Set(modules.map(({ source }) => source))
const missed = FOLDERS.flatMap(sourcesIn).filter((file) => !cruised.has(file))
const faults = summary.violations.filter(({ rule }) => rule.severity === 'error')

for (const { rule, from, to } of faults) console.log(`${rule.name}: ${from} -> ${to}`)
if (missed.length > 0)
  console.log(`not read, so not checked: ${missed.slice(0, 5).join(', ')} (${missed.length} files)`)
if (code !== 0 && faults.length === 0) console.log(output.slice(0, 2000))
console.log(`${cruised.size} modules, ${faults.length} faults`)
process.exit(faults.length + missed.length === 0 && code === 0 ? 0 : 1)

/**
 * @param {string} text
 * @returns {{ modules: { source: string }[], summary: { violations: { rule: { name: string, severity: string }, from: string, to: string }[] } }}
 */
function parse(text) {
  try {
    return JSON.parse(text)
  } catch {
    return { modules: [], summary: { violations: [] } }
  }
}

/**
 * @param {string} folder
 * @returns {string[]}
 */
function sourcesIn(folder) {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) return ['node_modules', 'dist', '.turbo'].includes(entry.name) ? [] : sourcesIn(path)
    return /\.tsx?$/.test(entry.name) && !entry.name.endsWith('.d.ts') ? [path] : []
  })
}
