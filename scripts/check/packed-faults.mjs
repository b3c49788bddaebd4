import { runProgram } from '../bootstrap/program.mjs'

/**
 * @typedef {object} Packed
 * @property {string} name
 * @property {string} tarball
 * @property {import('./consumer.mjs').Consumer} consumer
 */

/**
 * What is wrong with one packed package: for the two linters of packages, in its files, and when it is imported.
 *
 * @param {Packed} packed
 * @returns {Promise<string[]>}
 */
export async function faultsOfPacked(packed) {
  const faults = [...filesMissing(packed), ...filesTooMany(packed)]
  faults.push(...(await linterFaults('publint', ['run', packed.tarball, '--strict'])))
  const attw = ['--profile', 'esm-only', '--format', 'ascii', '--no-color', '--no-emoji', packed.tarball]
  faults.push(...(await linterFaults('attw', attw)))
  faults.push(...(await importFaults(packed)))
  return faults.map((fault) => `@cronce/${packed.name}: ${fault}`)
}

/**
 * @param {Packed} packed
 */
function filesMissing({ name, consumer }) {
  const manifest = consumer.manifestOf(name)
  const files = consumer.filesOf(name)
  const targets = [...leaves(manifest.exports), ...leaves(manifest.bin)].map((path) => path.replace(/^\.\//, ''))
  const needed = [...targets.filter((path) => !path.includes('*')), 'LICENSE']
  const missing = needed.filter((path) => !files.includes(path))
  if (name === 'store' && !files.some((path) => /^sql\/.+\.sql$/.test(path))) missing.push('sql/*.sql')
  if (name === 'store' && !files.some((path) => /^lua\/.+\.lua$/.test(path))) missing.push('lua/*.lua')
  return missing.map((path) => `${path} is not packed`)
}

/**
 * @param {Packed} packed
 */
function filesTooMany({ name, consumer }) {
  const tests = consumer.filesOf(name).filter((path) => /\.test\.[^/]+$/.test(path))
  return tests.map((path) => `${path} is packed`)
}

/**
 * @param {string} linter
 * @param {string[]} args
 */
async function linterFaults(linter, args) {
  const { code, output } = await runProgram(linter, args)
  return code === 0 ? [] : [`${linter} says\n${output.trimEnd()}`]
}

/**
 * @param {Packed} packed
 */
async function importFaults({ name, consumer }) {
  const paths = Object.keys(consumer.manifestOf(name).exports ?? {}).filter((path) => !/\*|\.json$/.test(path))
  const specifiers = paths.map((path) => `@cronce/${name}${path.slice(1)}`)
  const script = `for (const name of ${JSON.stringify(specifiers)}) {
    if (Object.keys(await import(name)).length === 0) throw new Error(name + ' exports nothing')
  }`
  const args = ['--input-type=module', '--eval', script]
  const { code, output } = await runProgram(process.execPath, args, { cwd: consumer.folder, timeoutMs: 20_000 })
  return code === 0 ? [] : [`cannot be imported\n${output.trimEnd()}`]
}

/**
 * All texts in a nest of objects.
 *
 * @param {unknown} value
 * @returns {string[]}
 */
function leaves(value) {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leaves) : []
}
