import { describe, expect, it } from 'vitest'
import { codeOf, type SourceFile, sourceFiles } from './source-files.ts'

// What no linter of ours can say. Each rule answers the files that break it.
const VAGUE = ['util', 'utils', 'helper', 'helpers', 'manager', 'common', 'misc', 'lib', 'tools', 'types', 'interfaces']

const isTest = ({ path }: SourceFile) => path.startsWith('test/') || path.endsWith('.test.ts')

const RULES = {
  'a file or folder is named by kebab-case': ({ path }) =>
    path.split('/').some((part) => !/^\.?[a-z0-9]+([-.][a-z0-9]+)*$/.test(part)),
  'no name is vague': ({ path }) => path.split('/').some((part) => VAGUE.includes(part.replace(/\..*$/, ''))),
  'the present instant comes from a clock': (file) =>
    !isTest(file) && !file.path.endsWith('/clock.ts') && /new Date\(\s*\)|\bDate\(\)/.test(codeOf(file.text)),
  'an index only re-exports': (file) =>
    file.path.startsWith('packages/') && file.path.endsWith('/src/index.ts') && !onlyExports(file.text),
  'a package takes no signal': (file) =>
    /^packages\/(?!(cli|process)\/)/.test(file.path) &&
    !isTest(file) &&
    /\bprocess\.(on|once)\(/.test(codeOf(file.text)),
  'tests sleep in one place': (file) =>
    /^test\/(contract|integration|fault)\//.test(file.path) &&
    /node:timers\/promises|resolve\w*, ?\d+\)/.test(file.text.replaceAll(/^\s*(\*|\/\/).*$/gm, '')),
  'no to-do is left': ({ path, text }) => !path.includes('conventions') && /\b(TODO|FIXME|XXX)\b/.test(text),
} satisfies Record<string, (file: SourceFile) => boolean>

function onlyExports(text: string): boolean {
  const statements = codeOf(text)
    .replaceAll(/\{[^}]*\}/g, '{}')
    .split('\n')
    .map((line) => line.trim())
  return statements.every((line) => line === '' || /^export (type )?(\{\}|\*)( as \w+)?( from '')?$/.test(line))
}

const files = sourceFiles('packages', 'apps', 'test').filter(({ path }) => /\.(ts|lua)$/.test(path))

describe('the conventions', () => {
  it.each(Object.entries(RULES))('%s', (_, breaks) => {
    expect(files.filter(breaks).map(({ path }) => path)).toEqual([])
  })
})

describe('a convention that is broken is noticed', () => {
  const broken: Readonly<Record<keyof typeof RULES, SourceFile>> = {
    'a file or folder is named by kebab-case': { path: 'packages/core/src/slotKey.ts', text: '' },
    'no name is vague': { path: 'packages/core/src/utils.ts', text: '' },
    'the present instant comes from a clock': { path: 'packages/core/src/now.ts', text: 'const now = new Date()' },
    'an index only re-exports': {
      path: 'packages/core/src/index.ts',
      text: `export * from './a.ts'\nexport const a = 1`,
    },
    'a package takes no signal': { path: 'packages/worker/src/stop.ts', text: `process.once('SIGTERM', stop)` },
    'tests sleep in one place': {
      path: 'test/fault/kill.test.ts',
      text: 'await new Promise((resolve) => setTimeout(resolve, 50))',
    },
    'no to-do is left': { path: 'packages/core/src/slot.ts', text: '// FIXME' },
  }
  it.each(Object.entries(RULES))('%s', (name, breaks) => {
    expect(breaks(broken[name as keyof typeof RULES])).toBe(true)
  })
})
