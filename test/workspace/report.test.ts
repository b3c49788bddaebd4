import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { readReport } from '../../scripts/check/report.mjs'
import { ROOT } from '../support/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'cronce-report-'))

function report(files: readonly object[]): ReturnType<typeof readReport> {
  const path = join(folder, 'report.json')
  writeFileSync(path, JSON.stringify({ testResults: files }))
  return readReport(path)
}

describe('the sum of a test run', () => {
  afterAll(() => rmSync(folder, { recursive: true }))

  it('counts what passed and names what failed and what was skipped', () => {
    const sum = report([
      {
        name: join(ROOT, 'test/fault/kill.test.ts'),
        status: 'failed',
        assertionResults: [
          { fullName: 'a killed replica loses nothing', status: 'passed' },
          { fullName: 'a killed worker doubles nothing', status: 'failed' },
          { fullName: 'the page (needs chromium)', status: 'skipped' },
        ],
      },
    ])
    expect(sum).toEqual({
      passed: 1,
      failed: ['test/fault/kill.test.ts: a killed worker doubles nothing'],
      skipped: ['test/fault/kill.test.ts: the page (needs chromium)'],
    })
  })

  it('counts a file that broke before its tests as a failure', () => {
    expect(report([{ name: join(ROOT, 'a.test.ts'), status: 'failed', assertionResults: [] }]).failed).toEqual([
      'a.test.ts',
    ])
  })

  it('takes no report for a failure', () => {
    expect(readReport(join(folder, 'nothing.json')).failed).toHaveLength(1)
  })
})
