import type { NpmPackage } from '../entities/npm-package.ts'
import { byKey, keysetPage } from './keyset-page.ts'
import type { PackageSource } from './package-source.ts'

/**
 * The first `count` of the packages of a source; beyond their number they are repeated under new keys, `semver~2` and so on. For
 * runs of any size on real input.
 */
export function repeatedPackages(source: PackageSource, count: number): PackageSource {
  let reading: Promise<readonly NpmPackage[]> | undefined
  const read = async () => {
    const packages = await source.all()
    if (count === packages.length) return packages
    const repeated = Array.from({ length: packages.length === 0 ? 0 : count }, (_, index) => {
      const round = Math.floor(index / packages.length)
      const original = packages[index % packages.length] as NpmPackage
      return round === 0 ? original : { ...original, name: `${original.name}~${round + 1}` }
    })
    return repeated.toSorted(byKey(({ name }) => name))
  }
  const all = () => {
    reading ??= read().catch((error: unknown) => {
      reading = undefined
      throw error
    })
    return reading
  }
  return { all, page: async (request) => keysetPage(await all(), ({ name }) => name, request) }
}
