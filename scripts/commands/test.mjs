import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { CACHE } from '../bootstrap/folders.mjs'
import { runInForeground } from '../bootstrap/foreground.mjs'
import { PLAIN } from '../bootstrap/program.mjs'
import { redisForTests } from '../bootstrap/redis.mjs'
import { setUp } from '../bootstrap/setup.mjs'
import { readReport } from '../check/report.mjs'
import { runSteps } from '../check/step.mjs'
import { PACKING, RULES } from '../check/steps.mjs'

const VITEST = 'node_modules/vitest/vitest.mjs'
const REPORT = join(CACHE, 'test-report.json')

/**
 * Every rule and every test. With arguments, only the tests that they select: `npm test -- --project fault claim`.
 * The last line of the output is the sum.
 *
 * @param {string[]} selection
 */
export async function test(selection) {
  try {
    const redis = await redisAfterSetUp()
    const steps = selection.length > 0 ? [] : [...RULES, PACKING]
    const failedSteps = await runSteps(steps)
    const exitCode = await runVitest(selection, redis)
    return sumUp({ steps: steps.length, failedSteps, exitCode })
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    console.log('0 passed, 1 failed')
    return exitCodeOf(error)
  }
}

async function redisAfterSetUp() {
  await setUp()
  return await redisForTests()
}

/**
 * @param {string[]} selection
 * @param {Record<string, string>} redis
 */
async function runVitest(selection, redis) {
  mkdirSync(CACHE, { recursive: true })
  rmSync(REPORT, { force: true })
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${REPORT}`]
  return await runInForeground([VITEST, 'run', ...reporters, ...selection], { ...PLAIN, ...redis })
}

/**
 * @param {{ steps: number, failedSteps: string[], exitCode: number }} outcome
 */
function sumUp({ steps, failedSteps, exitCode }) {
  const { passed, failed, skipped } = readReport(REPORT)
  for (const name of failedSteps) console.log(`FAILED check: ${name}`)
  for (const name of failed) console.log(`FAILED ${name}`)
  for (const name of skipped) console.log(`SKIPPED ${name}`)
  const failures = failedSteps.length + failed.length
  // A run that failed in no test (a leak, an error outside tests) has failed all the same.
  const all = exitCode !== 0 && failed.length === 0 ? failures + 1 : failures
  const skips = skipped.length === 0 ? '' : `, ${skipped.length} skipped`
  console.log(`${passed + steps - failedSteps.length} passed, ${all} failed${skips}`)
  return all === 0 ? 0 : 1
}

/**
 * @param {unknown} error
 */
function exitCodeOf(error) {
  return error instanceof Error && 'exitCode' in error && typeof error.exitCode === 'number' ? error.exitCode : 1
}
