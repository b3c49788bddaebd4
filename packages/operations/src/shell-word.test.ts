import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { findingsOfOrphans } from './orphans.ts'
import { shellWord } from './shell-word.ts'

const HOSTILE = [
  "it's",
  '$(touch taken)',
  '`touch taken`',
  "'; touch taken; '",
  '"',
  'a b',
  '-',
  '',
  '\\',
  '*',
  '~',
  'a\nb',
]

it('is the same word again in a shell, which runs nothing of it', () => {
  const words = [...HOSTILE, 'invoice-run@2026-03-02T02:00/a:b'].map((text) => shellWord(text))
  const printed = execFileSync('/bin/sh', ['-c', `printf '%s\\0' ${words.join(' ')}`], { env: {} }).toString()
  expect(printed.split('\0').slice(0, -1)).toEqual([...HOSTILE, 'invoice-run@2026-03-02T02:00/a:b'])
  expect(words.at(-1)).toBe('invoice-run@2026-03-02T02:00/a:b')
})

it('stands in the command that forgets the keys of an unknown job, whatever its name', () => {
  for (const name of HOSTILE) {
    const owner = { kind: 'job', name, keys: 1, tasks: 0, pattern: `cronce:{s:job:${name}}:*` } as const
    const [finding] = findingsOfOrphans({ owners: [owner], extent: 'whole' })
    const [, command = ''] = /redis-cli --scan --pattern ([^]*) \| xargs/.exec(finding?.fix ?? '') ?? []
    expect(execFileSync('/bin/sh', ['-c', `printf %s ${command}`], { env: {} }).toString()).toBe(owner.pattern)
  }
})
