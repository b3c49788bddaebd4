import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { Consumer } from '../../scripts/check/consumer.mjs'
import { faultsOfPacked } from '../../scripts/check/packed-faults.mjs'

const folder = mkdtempSync(join(tmpdir(), 'cronce-packing-test-'))

/** A package as it would be published, from these files. */
function pack(name: string, files: Readonly<Record<string, string>>): string {
  const source = join(folder, name, 'package')
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(source, path, '..'), { recursive: true })
    writeFileSync(join(source, path), text)
  }
  const tarball = join(folder, `cronce-${name}-1.0.0.tgz`)
  execFileSync('tar', ['-czf', tarball, '-C', join(folder, name), 'package'])
  return tarball
}

async function faultsOf(name: string, files: Readonly<Record<string, string>>): Promise<string> {
  const tarball = pack(name, files)
  const consumer = new Consumer(join(folder, `${name}-consumer`))
  await consumer.add(name, tarball)
  return (await faultsOfPacked({ name, tarball, consumer })).join('\n')
}

const manifest = (name: string) => {
  const entry = { types: './dist/index.d.ts', default: './dist/index.js' }
  return JSON.stringify({
    name: `@cronce/${name}`,
    version: '1.0.0',
    type: 'module',
    license: 'MIT',
    exports: { '.': entry },
  })
}

describe('a packed package', () => {
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('is well when it has what its exports promise', async () => {
    const files = {
      'package.json': manifest('well'),
      LICENSE: 'MIT',
      'dist/index.js': 'export const a = 1\n',
      'dist/index.d.ts': 'export declare const a = 1\n',
    }
    expect(await faultsOf('well', files)).toBe('')
  })

  it('is refused without types, code or Lua, with tests, and when nothing can be imported', async () => {
    const files = {
      'package.json': manifest('store'),
      'dist/slot.test.js': '',
      'dist/index.js': `import './gone.js'\n`,
      'dist/other.d.ts': 'export {}\n',
    }
    const faults = await faultsOf('store', files)
    expect(faults).toContain('dist/index.d.ts is not packed')
    expect(faults).toContain('LICENSE is not packed')
    expect(faults).toContain('lua/*.lua is not packed')
    expect(faults).toContain('dist/slot.test.js is packed')
    expect(faults).toContain('publint says')
    expect(faults).toContain('attw says')
    expect(faults).toContain('cannot be imported')
  })
})
