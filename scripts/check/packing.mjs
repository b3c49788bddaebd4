import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../bootstrap/folders.mjs'
import { runProgram } from '../bootstrap/program.mjs'
import { Consumer } from './consumer.mjs'
import { faultsOfPacked } from './packed-faults.mjs'

// Packs every public package as it would be published, and looks at what a stranger would get.
const folder = mkdtempSync(join(tmpdir(), 'cronce-packing-'))
try {
  const names = publicPackages()
  const filters = names.map((name) => `--filter=./packages/${name}`)
  const packed = await runProgram('pnpm', ['--recursive', ...filters, 'pack', '--pack-destination', folder])
  if (packed.code !== 0) throw new Error(packed.output)
  const consumer = new Consumer(join(folder, 'consumer'))
  for (const name of names) await consumer.add(name, tarballOf(name))
  const faults = await inPairs(
    names,
    async (name) => await faultsOfPacked({ name, tarball: tarballOf(name), consumer }),
  )
  for (const fault of faults.flat()) console.log(fault)
  console.log(`${names.length} packages, ${faults.flat().length} faults`)
  process.exitCode = faults.flat().length === 0 && names.length > 0 ? 0 : 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function publicPackages() {
  return readdirSync(join(ROOT, 'packages')).filter((name) => {
    const manifest = JSON.parse(readFileSync(join(ROOT, 'packages', name, 'package.json'), 'utf8'))
    return manifest.private !== true
  })
}

/**
 * @param {string} name
 */
function tarballOf(name) {
  const file = readdirSync(folder).find((entry) => entry.startsWith(`cronce-${name}-`) && entry.endsWith('.tgz'))
  if (file === undefined) throw new Error(`@cronce/${name} was not packed`)
  return join(folder, file)
}

/**
 * @template T, R
 * @param {T[]} items
 * @param {(item: T) => Promise<R>} work
 */
async function inPairs(items, work) {
  /** @type {R[]} */
  const results = []
  for (let index = 0; index < items.length; index += 2) {
    results.push(...(await Promise.all(items.slice(index, index + 2).map(work))))
  }
  return results
}
