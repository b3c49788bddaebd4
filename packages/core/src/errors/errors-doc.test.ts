import { describe, expect, it } from 'vitest'
import { ERRORS, type ErrorEntry } from './catalogue.ts'
import { CONFIG_ERRORS } from './config.ts'
import { CONSOLE_ERRORS } from './console.ts'
import { JOB_ERRORS } from './job.ts'
import { OPERATION_ERRORS } from './operation.ts'
import { SCHEDULE_ERRORS } from './schedule.ts'
import { STORE_ERRORS } from './store.ts'
import { WATCHDOG_ERRORS } from './watchdog.ts'
import { WORKER_ERRORS } from './worker.ts'

const INTRODUCTION = `# Errors

Everything Cronce raises is a \`CronceError\` with a stable \`code\`, the \`fields\` that fill its message, and \`faults\` where it
stands for several. Branch on the code, never on the text. This page is written from the catalogue
(\`packages/core/src/errors\`) and tested equal to it; after a change there, \`npx vitest run errors-doc -u\` writes it again.
`

const AREAS: readonly (readonly [heading: string, codes: Readonly<Record<string, ErrorEntry>>])[] = [
  ['Definitions', JOB_ERRORS],
  ['Schedules', SCHEDULE_ERRORS],
  ['Configuration', CONFIG_ERRORS],
  ['Redis and Postgres', STORE_ERRORS],
  ['Workers', WORKER_ERRORS],
  ['Watchdog', WATCHDOG_ERRORS],
  ['Operations', OPERATION_ERRORS],
  ['Console', CONSOLE_ERRORS],
]

function section([heading, codes]: (typeof AREAS)[number]): string {
  const rows = Object.entries(codes).map(
    ([code, { message, fix }]) => `| \`${code}\` | ${cell(message)} | ${cell(fix)} |`,
  )
  return [`## ${heading}`, '', '| code | message | what to do |', '| --- | --- | --- |', ...rows, ''].join('\n')
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|')
}

describe('docs/errors.md', () => {
  it('is the catalogue: every code, message and fix, and nothing else', async () => {
    await expect([INTRODUCTION, ...AREAS.map(section)].join('\n')).toMatchFileSnapshot('../../../../docs/errors.md')
  })

  it('covers every area of the catalogue', () => {
    expect(AREAS.flatMap(([, codes]) => Object.keys(codes)).toSorted()).toEqual(Object.keys(ERRORS).toSorted())
  })
})
