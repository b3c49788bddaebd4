import type { NpmPackage } from '../entities/npm-package.ts'
import { keysetPage } from './keyset-page.ts'
import type { PackageSource } from './package-source.ts'

/**
 * The first `count` of the packages of a source; beyond their number they are repeated, round after round, under new keys: `semver~2`
 * and so on. For runs of any size on real input. A page is made from its cursor, so that a process that just started has it at once.
 */
export function repeatedPackages(source: PackageSource, count: number): PackageSource {
  return {
    async page({ after, limit }) {
      const packages = await source.all()
      const from = after === undefined ? 0 : positionAfter(packages, after)
      const length = packages.length === 0 ? 0 : Math.max(0, Math.min(limit, count - from))
      return Array.from({ length }, (_, index) => packageAt(packages, from + index))
    },
    async all() {
      const packages = await source.all()
      const length = packages.length === 0 ? 0 : count
      return Array.from({ length }, (_, index) => packageAt(packages, index))
    },
  }
}

function packageAt(packages: readonly NpmPackage[], index: number): NpmPackage {
  const round = Math.floor(index / packages.length)
  const original = packages[index % packages.length] as NpmPackage
  return round === 0 ? original : { ...original, name: `${original.name}~${round + 1}` }
}

function positionAfter(packages: readonly NpmPackage[], key: string): number {
  const [, name = key, round = '1'] = /^(.+)~(\d+)$/.exec(key) ?? []
  const rest = keysetPage(packages, (row) => row.name, { after: name, limit: packages.length })
  return (Number(round) - 1) * packages.length + packages.length - rest.length
}
