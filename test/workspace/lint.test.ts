import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { layOutMiniature, linkDependencies, type Miniature } from './miniature.ts'

const longFile = Array.from({ length: 251 }, (_, index) => `export const line${index} = ${index}`).join('\n')

/** What must be refused: path, text, and the rule that refuses it. */
const REFUSED: readonly (readonly [path: string, text: string, rule: string])[] = [
  [
    'packages/queue/src/un-awaited.ts',
    `import { Queue } from 'bullmq'
     export function place(queue: Queue): void { queue.add('slot', {}) }`,
    'typescript(no-floating-promises)',
  ],
  [
    'packages/core/src/misused.ts',
    `export const isDue = (check: () => Promise<boolean>) => (check() ? 'due' : 'open')`,
    'typescript(no-misused-promises)',
  ],
  ['packages/core/src/awaited.ts', `export async function wait() { return await 1 }`, 'typescript(await-thenable)'],
  [
    'packages/core/src/switch.ts',
    `export function word(state: 'due' | 'claimed'): string {
       switch (state) { case 'due': return 'due' }
       return ''
     }`,
    'typescript(switch-exhaustiveness-check)',
  ],
  ['packages/core/src/any.ts', `export const value = (input: any): unknown => input`, 'typescript(no-explicit-any)'],
  [
    'packages/core/src/type-import.ts',
    `import { Miniature } from './cycle-a.ts'
     export type Name = Miniature`,
    'typescript(consistent-type-imports)',
  ],
  [
    'packages/core/src/cycle-a.ts',
    `import { b } from './cycle-b.ts'
     export type Miniature = 'small'
     export const a = (): unknown => b`,
    'import(no-cycle)',
  ],
  [
    'packages/core/src/cycle-b.ts',
    `import { a } from './cycle-a.ts'\nexport const b = (): unknown => a`,
    'import(no-cycle)',
  ],
  ['packages/core/src/default.ts', `export default 1`, 'import(no-default-export)'],
  ['packages/core/src/long.ts', longFile, 'eslint(max-lines)'],
  [
    'packages/core/src/positional.ts',
    `export const sum = (a: number, b: number, c: number, d: number) => a + b + c + d`,
    'eslint(max-params)',
  ],
  ['packages/core/src/environment.ts', `export const url = process.env['REDIS_URL']`, 'node(no-process-env)'],
  ['packages/core/src/now.ts', `export const now = () => Date.now()`, 'eslint(no-restricted-properties)'],
  ['packages/core/src/chance.ts', `export const chance = () => Math.random()`, 'eslint(no-restricted-properties)'],
  ['packages/core/src/console.ts', `export const say = () => console.log('slot')`, 'eslint(no-console)'],
]

const ALLOWED: Readonly<Record<string, string>> = {
  'apps/service/src/config.ts': `export const url = process.env['REDIS_URL']`,
  'packages/core/src/clock.ts': `export const now = () => Date.now()`,
  'packages/core/src/random.ts': `export const chance = () => Math.random()`,
  'packages/cli/src/output.ts': `export const say = () => console.log('slot')`,
  'packages/core/src/long.test.ts': longFile,
}

describe('the lint rules', () => {
  let miniature: Miniature
  let output: string

  beforeAll(async () => {
    miniature = layOutMiniature({ ...Object.fromEntries(REFUSED), ...ALLOWED })
    linkDependencies(miniature, 'packages/queue')
    output = (await miniature.run('oxlint', ['--type-aware', '--format=unix', 'packages', 'apps'])).output
  })
  afterAll(() => miniature.remove())

  const linesOf = (path: string) => output.split('\n').filter((line) => line.startsWith(path))

  it.each(REFUSED)('refuse %s', (path, _, rule) => {
    expect(linesOf(path).join('\n')).toContain(rule)
  })

  it.each(Object.keys(ALLOWED))('allow %s', (path) => {
    expect(linesOf(path)).toEqual([])
  })
})
