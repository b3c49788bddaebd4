import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { layOutMiniature, type Miniature } from './miniature.ts'

const TEXTS: Readonly<Record<string, string>> = {
  'semicolon.ts': `export const a = 1;\n`,
  'quotes.ts': `export const a = "b"\n`,
  'indent.ts': `export function a() {\n    return 1\n}\n`,
  'order.ts': `import b from './b.ts'\nimport a from './a.ts'\n\nexport { a, b }\n`,
  'trailing.ts': `export const a = [\n  '${'x'.repeat(60)}',\n  '${'y'.repeat(60)}'\n]\n`,
}

describe('the format', () => {
  let miniature: Miniature
  let output: string

  beforeAll(async () => {
    miniature = layOutMiniature({ ...TEXTS, 'well.ts': `export const a = 'b'\n` })
    output = (await miniature.run('biome', ['check', '--vcs-enabled=false', '--colors=off', '.'])).output
  })
  afterAll(() => miniature.remove())

  it.each(Object.keys(TEXTS))('is refused in %s', (file) => {
    expect(output).toMatch(new RegExp(`^${file.replace('.', '\\.')}(:\\d+:\\d+)? (format|assist)`, 'm'))
  })

  it('is no matter of taste otherwise', () => {
    expect(output).not.toContain('well.ts')
  })
})
