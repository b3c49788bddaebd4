import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { layOutMiniature, linkDependencies, type Miniature } from './miniature.ts'

const PACKAGES = ['core', 'jobs', 'queue', 'store', 'trigger', 'worker', 'operations', 'cli', 'process']

/** A package that others can import by name, as ours are. */
function packageFiles(name: string): Record<string, string> {
  const exports = { '.': { '@cronce/source': './src/index.ts', default: './dist/index.js' } }
  return {
    [`packages/${name}/package.json`]: JSON.stringify({ name: `@cronce/${name}`, type: 'module', exports }),
    [`packages/${name}/src/index.ts`]: `export const ${name} = '${name}'`,
  }
}

const REFUSED: readonly (readonly [path: string, text: string, rule: string])[] = [
  ['packages/trigger/src/bull.ts', `export { Queue } from 'bullmq'`, 'only-queue-imports-bullmq'],
  ['apps/service/src/bull.ts', `export { Queue } from 'bullmq'`, 'only-queue-imports-bullmq'],
  ['packages/queue/src/redis.ts', `export { Redis } from 'ioredis'`, 'only-store-imports-ioredis-and-pg'],
  ['packages/worker/src/redis-type.ts', `export type { Redis } from 'ioredis'`, 'only-store-imports-ioredis-and-pg'],
  ['packages/operations/src/postgres.ts', `export { Pool } from 'pg'`, 'only-store-imports-ioredis-and-pg'],
  ['packages/worker/src/signals.ts', `export * from '../../process/src/index.ts'`, 'only-apps-import-process'],
  ['test/support/variables.ts', `export * from '../../packages/process/src/index.ts'`, 'only-apps-import-process'],
  ['packages/core/src/file.ts', `export { readFile } from 'node:fs/promises'`, 'core-without-io'],
  ['packages/core/src/upwards.ts', `export { queue } from '../../queue/src/index.ts'`, 'layer-core'],
  ['packages/store/src/sideways.ts', `export { queue } from '../../queue/src/index.ts'`, 'layer-store'],
  ['packages/trigger/src/apart.ts', `export { worker } from '../../worker/src/index.ts'`, 'trigger-and-worker-apart'],
  [
    'packages/worker/src/apart.test.ts',
    `export { trigger } from '../../trigger/src/index.ts'`,
    'trigger-and-worker-apart',
  ],
  ['packages/queue/src/deep.ts', `export { core } from '../../core/src/index.ts'`, 'no-deep-imports'],
  ['apps/demo/src/deep.ts', `export { store } from '../../../packages/store/src/index.ts'`, 'no-deep-imports'],
  ['apps/worker/src/app.ts', `export * from '../../service/src/bull.ts'`, 'nothing-imports-apps'],
  ['packages/core/src/tested.ts', `export * from './slot.test.ts'`, 'production-without-test'],
  ['apps/service/src/supported.ts', `export * from '../../../test/support/wait.ts'`, 'production-without-test'],
  ['packages/core/src/cycle-a.ts', `import { b } from './cycle-b.ts'\nexport const a = (): unknown => b`, 'no-cycles'],
  ['packages/core/src/gone.ts', `export { gone } from './nowhere.ts'`, 'resolvable'],
]

const ALLOWED: Readonly<Record<string, string>> = {
  'packages/core/src/cycle-b.ts': `export { a as b } from './cycle-a.ts'`,
  'packages/core/src/slot.test.ts': `export const slot = 1`,
  'packages/core/src/type-a.ts': `import type { B } from './type-b.ts'\nexport type A = B | 1`,
  'packages/core/src/type-b.ts': `import type { A } from './type-a.ts'\nexport type B = A[]`,
  'packages/queue/src/bull.ts': `export { Queue } from 'bullmq'`,
  'packages/store/src/redis.ts': `export { Redis } from 'ioredis'`,
  'test/support/wait.ts': `export { Redis } from 'ioredis'`,
}

describe('the boundaries', () => {
  let miniature: Miniature
  let answer: { code: number; output: string }

  beforeAll(async () => {
    const packages = Object.assign({}, ...PACKAGES.map(packageFiles)) as Record<string, string>
    miniature = layOutMiniature({ ...packages, ...Object.fromEntries(REFUSED), ...ALLOWED })
    for (const name of ['packages/queue', 'packages/store', 'test']) linkDependencies(miniature, name)
    answer = await miniature.run('node', ['scripts/check/boundaries.mjs'])
  })
  afterAll(() => miniature.remove())

  it.each(REFUSED)('refuse %s', (path, _, rule) => {
    expect(answer.output).toContain(`${rule}: ${path} -> `)
    expect(answer.code).toBe(1)
  })

  it.each(Object.keys(ALLOWED).filter((path) => !path.includes('cycle')))('allow %s', (path) => {
    expect(answer.output).not.toContain(`: ${path} -> `)
  })

  it('are not kept by reading nothing: a file that was not read is a fault', () => {
    expect(answer.output).not.toContain('not read')
    expect(answer.output).toMatch(/^\d\d modules/m)
  })
})
