import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { ROOT } from '../bootstrap/folders.mjs'

/**
 * @typedef {{ fullName: string, status: string }} TestResult
 * @typedef {{ name: string, status: string, assertionResults: TestResult[] }} FileResult
 */

/**
 * The sum of vitest's JSON report: how many tests passed, which failed, which were skipped. A file that broke before its
 * tests counts as one failure, and so does a report that is not there.
 *
 * @param {string} path
 * @returns {{ passed: number, failed: string[], skipped: string[] }}
 */
export function readReport(path) {
  const files = readFiles(path)
  if (files === undefined) return { passed: 0, failed: ['the test run: it wrote no report'], skipped: [] }
  const tests = files.flatMap((file) => file.assertionResults.map((test) => ({ ...test, name: nameOf(file, test) })))
  const broken = files.filter(({ status, assertionResults }) => status === 'failed' && !assertionResults.some(isFailed))
  return {
    passed: tests.filter(({ status }) => status === 'passed').length,
    failed: [...tests.filter(isFailed).map(({ name }) => name), ...broken.map(({ name }) => relative(ROOT, name))],
    skipped: tests.filter(({ status }) => !['passed', 'failed'].includes(status)).map(({ name }) => name),
  }
}

/**
 * @param {string} path
 * @returns {FileResult[] | undefined}
 */
function readFiles(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).testResults
  } catch {
    return undefined
  }
}

/**
 * @param {{ status: string }} result
 */
function isFailed({ status }) {
  return status === 'failed'
}

/**
 * @param {FileResult} file
 * @param {TestResult} test
 */
function nameOf(file, test) {
  return `${relative(ROOT, file.name)}: ${test.fullName}`
}
