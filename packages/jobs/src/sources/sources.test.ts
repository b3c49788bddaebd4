import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ZodError } from 'zod'
import { dailyDigest } from '../definitions/daily-digest.ts'
import { packageReport } from '../definitions/package-report.ts'
import { openPackages, packageSource } from './package-source.ts'
import { repeatedPackages } from './repeated-packages.ts'
import { scopeSource, scopesOf } from './scope-source.ts'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cronce-packages-'))
})
afterAll(() => rm(folder, { recursive: true }))

async function packagesOf(...lines: readonly string[]) {
  const file = join(folder, `${lines.length}-${lines.join('').length}.csv`)
  await writeFile(file, `${lines.join('\n')}\n`)
  return openPackages(pathToFileURL(file))
}

describe('packageSource', () => {
  it('gives each of the 20,000 packages once, in pages, and the job takes them all', async () => {
    const names: string[] = []
    let after: string | undefined
    for (;;) {
      const page = await packageSource.page({ after, limit: 1_500 })
      if (page.length === 0) break
      for (const row of page) names.push(packageReport.entity.key(packageReport.entity.parse(row)))
      after = names.at(-1)
    }
    expect(names).toHaveLength(20_000)
    expect(names).toEqual([...new Set(names)].toSorted())
    expect(names).toContain('semver')
    expect(names).toContain('@babel/core')
  })

  it('goes on after a key that is gone, and ends after the last', async () => {
    const [first, second] = await packageSource.page({ limit: 2 })
    expect(await packageSource.page({ after: `${first?.name}!`, limit: 1 })).toEqual([second])
    expect(await packageSource.page({ after: '\uffff', limit: 10 })).toEqual([])
  })

  it('refuses a file with malformed rows, naming all of them', async () => {
    const source = await packagesOf('name,version,downloads_a_month', 'a,1.0.0,5', ',1.0.0,5', 'b,1.0.0,many', 'c')
    const error: unknown = await source.page({ limit: 1 }).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ZodError)
    expect([...new Set((error as ZodError).issues.map(({ path }) => path[0]))]).toEqual([1, 2, 3])
  })

  it('refuses a file with another header', async () => {
    const source = await packagesOf('name;version;downloads', 'a;1.0.0;5')
    await expect(source.page({ limit: 1 })).rejects.toThrow(ZodError)
  })
})

describe('repeatedPackages', () => {
  const namesOf = async (count: number) => {
    const source = repeatedPackages(await packagesOf('name,version,downloads_a_month', 'a,1.0.0,5', 'b,1.0.0,5'), count)
    return (await source.all()).map(({ name }) => name)
  }

  it('gives any number of packages, each under a key of its own', async () => {
    expect(await namesOf(1)).toEqual(['a'])
    expect(await namesOf(2)).toEqual(['a', 'b'])
    expect(await namesOf(5)).toEqual(['a', 'b', 'a~2', 'b~2', 'a~3'])
    const many = (await repeatedPackages(packageSource, 45_000).all()).map(({ name }) => name)
    expect(new Set(many).size).toBe(45_000)
  })

  it('gives the same in pages, which the job takes', async () => {
    const source = repeatedPackages(packageSource, 41_000)
    const names: string[] = []
    for (;;) {
      const page = await source.page({ after: names.at(-1), limit: 1_500 })
      if (page.length === 0) break
      for (const row of page) names.push(packageReport.entity.key(packageReport.entity.parse(row)))
    }
    expect(names).toEqual((await source.all()).map(({ name }) => name))
  })
})

describe('scopeSource', () => {
  it('gives a few scopes, in the order of their names, and the job takes them', async () => {
    const scopes = await scopeSource.page({ limit: 1_000 })
    const keys = scopes.map((row) => dailyDigest.entity.key(dailyDigest.entity.parse(row)))
    expect(keys).toEqual(keys.toSorted())
    expect(keys).toContain('@babel')
    expect(keys.length).toBeGreaterThan(5)
    expect(keys.length).toBeLessThan(50)
    expect(await scopeSource.page({ after: keys.at(2), limit: 2 })).toEqual(scopes.slice(3, 5))
  })

  it('sums what is under a scope, and leaves out the small ones and what has none', async () => {
    const large = Array.from({ length: 75 }, (_, index) => `@big/p${index},1.0.0,2`)
    const source = await packagesOf('name,version,downloads_a_month', ...large, '@small/p,1.0.0,9', 'plain,1.0.0,9')
    expect(await scopesOf(source).page({ limit: 10 })).toEqual([{ scope: '@big', packages: 75, downloads: 150 }])
  })
})
