import type { PackageScope } from '../entities/package-scope.ts'
import { byKey, keysetPage, type PageRequest } from './keyset-page.ts'
import { type PackageSource, packageSource } from './package-source.ts'

/** A scope with fewer packages gets no digest. */
const LEAST_PACKAGES = 75

/** Where the entities of the digest come from: the large scopes among the packages. */
export interface ScopeSource {
  /** One page in the order of scopes. */
  page(request: PageRequest): Promise<readonly PackageScope[]>
}

/** The scopes with at least 75 packages of a source. */
export function scopesOf(packages: PackageSource): ScopeSource {
  return {
    async page(request) {
      const scopes = new Map<string, PackageScope>()
      for (const { name, downloads } of await packages.all()) {
        const scope = name.startsWith('@') ? name.slice(0, name.indexOf('/')) : undefined
        if (scope === undefined) continue
        const sum = scopes.get(scope)
        scopes.set(scope, { scope, packages: (sum?.packages ?? 0) + 1, downloads: (sum?.downloads ?? 0) + downloads })
      }
      const large = [...scopes.values()].filter((scope) => scope.packages >= LEAST_PACKAGES)
      return keysetPage(large.toSorted(byKey(scopeOf)), scopeOf, request)
    },
  }
}

/** The large scopes among the packages that this package carries. */
export const scopeSource: ScopeSource = scopesOf(packageSource)

function scopeOf({ scope }: PackageScope): string {
  return scope
}
