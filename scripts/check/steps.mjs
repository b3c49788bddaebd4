/** @typedef {import('./step.mjs').CheckStep} CheckStep */

const node = process.execPath

/**
 * The rules of the workspace that need no test run, cheapest first.
 *
 * @type {CheckStep[]}
 */
export const RULES = [
  { name: 'format', command: 'biome', args: ['check', '--error-on-warnings', '.'] },
  { name: 'types', command: 'tsc', args: ['--noEmit', '-p', 'tsconfig.json'] },
  { name: 'lint', command: 'oxlint', args: ['--type-aware', '--deny-warnings', '.'] },
  { name: 'boundaries', command: node, args: ['scripts/check/boundaries.mjs'] },
  { name: 'unused code', command: 'knip', args: ['--no-progress'] },
]

/**
 * What needs the built packages.
 *
 * @type {CheckStep}
 */
export const PACKING = { name: 'packing', command: node, args: ['scripts/check/packing.mjs'] }
