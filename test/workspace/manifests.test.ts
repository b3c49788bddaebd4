import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../support/index.ts'

interface Manifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly type?: string
  readonly license?: string
  readonly engines?: { readonly node?: string }
  readonly scripts?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const folders = ['packages', 'apps'].flatMap((parent) =>
  readdirSync(join(ROOT, parent)).map((name) => `${parent}/${name}`),
)
const paths = ['.', 'test', ...folders].filter((folder) => existsSync(join(ROOT, folder, 'package.json')))
const manifests = paths.map((folder) => [folder, JSON.parse(read(`${folder}/package.json`)) as Manifest] as const)
const root = manifests[0]?.[1]

describe.each(manifests)('the manifest of %s', (_, manifest) => {
  it('takes every version from the catalogue or the workspace', () => {
    const versions = Object.values({ ...manifest.dependencies, ...manifest.devDependencies })
    expect(versions.filter((version) => !['catalog:', 'workspace:*'].includes(version))).toEqual([])
  })

  it('is an ES module of the one version', () => {
    expect([manifest.type, manifest.version]).toEqual(['module', root?.version])
  })
})

describe('the workspace', () => {
  it('gives every package a layer, and no package more than its layer', () => {
    const rows = [...read('.dependency-cruiser.mjs').matchAll(/^ {2}([a-z]+): \[(.*)\],$/gm)]
    const layers = new Map(rows.map(([, name = '', used = '']) => [name, used.replaceAll(/[' ]/g, '').split(',')]))
    for (const [folder, { dependencies = {} }] of manifests.filter(([path]) => path.startsWith('packages/'))) {
      const used = Object.keys(dependencies).filter((name) => name.startsWith('@cronce/'))
      const allowed = layers.get(folder.replace('packages/', ''))
      expect(
        used.filter((name) => allowed?.includes(name.replace('@cronce/', '')) !== true),
        folder,
      ).toEqual([])
    }
    expect([...layers.keys()].toSorted()).toEqual(
      folders.filter((path) => path.startsWith('packages/')).map((path) => path.slice(9)),
    )
  })

  it('says in every public package what a user must know', () => {
    const published = manifests.filter(([, manifest]) => manifest.private !== true)
    expect(published.length).toBeGreaterThan(5)
    for (const [, { license, engines }] of published) expect([license, engines]).toEqual([root?.license, root?.engines])
  })

  it('pins every version exactly', () => {
    const catalog = read('pnpm-workspace.yaml').split(/^catalog:$/m)[1] ?? ''
    const versions = [...catalog.matchAll(/^ {2}\S+: (\S+)$/gm)].map(([, version]) => version)
    expect(versions.length).toBeGreaterThan(20)
    expect(versions.filter((version) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version ?? ''))).toEqual([])
  })

  it('has a lockfile that names no host', () => {
    expect(read('pnpm-lock.yaml')).not.toMatch(/https?:\/\//)
  })

  it('says in one place which package manager it needs, and has the same at hand for the build', () => {
    const version = /^ {2}pnpm: (\S+)$/m.exec(read('pnpm-workspace.yaml'))?.[1]
    expect(JSON.parse(read('package.json'))).toHaveProperty(
      'packageManager',
      expect.stringContaining(`pnpm@${version}+sha512.`),
    )
  })

  it('sends every command through the bootstrap', () => {
    const { format: _, ...commands } = root?.scripts ?? {}
    for (const [name, script] of Object.entries(commands)) expect(script).toBe(`exec node scripts/run.mjs ${name}`)
    const names = ['bench', 'check', 'cronce', 'screenshots', 'simulate', 'start', 'test']
    expect(Object.keys(commands).toSorted()).toEqual(names)
  })
})
