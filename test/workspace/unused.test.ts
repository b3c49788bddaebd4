import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { layOutMiniature, type Miniature } from './miniature.ts'

const manifest = (fields: object) => JSON.stringify({ type: 'module', version: '1.0.0', ...fields })

describe('unused code', () => {
  let miniature: Miniature
  let answer: { code: number; output: string }

  beforeAll(async () => {
    miniature = layOutMiniature({
      'package.json': manifest({ name: 'miniature', private: true }),
      'pnpm-workspace.yaml': 'packages: [packages/*, test]\n',
      'packages/core/package.json': manifest({
        name: '@cronce/core',
        exports: { '.': { '@cronce/source': './src/index.ts', default: './dist/index.js' } },
        dependencies: { zod: '4.0.0' },
      }),
      'packages/core/src/index.ts': `export { offered } from './used.ts'\nimport './half-used.ts'`,
      'packages/core/src/used.ts': `export const offered = 1`,
      'packages/core/src/half-used.ts': `export const forgotten = 1`,
      'packages/core/src/orphan.ts': `export const orphan = 1`,
      'test/package.json': manifest({ name: '@cronce/test', private: true }),
      'test/fault/kill.test.ts': `export const tested = 1`,
    })
    answer = await miniature.run('knip', ['--no-progress', '--reporter=json'])
  })
  afterAll(() => miniature.remove())

  it.each(['orphan.ts', 'forgotten', 'zod'])('is refused: %s', (name) => {
    expect(answer.output).toContain(name)
    expect(answer.code).toBe(1)
  })

  it.each(['offered', 'tested', 'used.ts"'])('is not what a package offers or a tier runs: %s', (name) => {
    expect(answer.output.replaceAll('half-used.ts', '')).not.toContain(name)
  })
})
