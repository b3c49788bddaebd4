import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { type NpmPackage, npmPackage } from '../entities/npm-package.ts'
import { byKey, keysetPage, type PageRequest } from './keyset-page.ts'

const HEADER = 'name,version,downloads_a_month'

/** Where the entities of the nightly report come from. */
export interface PackageSource {
  /** One page in the order of names. */
  page(request: PageRequest): Promise<readonly NpmPackage[]>
  /** Every package in the order of names. */
  all(): Promise<readonly NpmPackage[]>
}

/**
 * Packages from a CSV file without quotes, read and checked once, at the first page that is asked for.
 *
 * @throws ZodError from `page` and `all`, with every malformed row, and the file system's error where it cannot be read.
 */
export function openPackages(file: URL): PackageSource {
  let reading: Promise<readonly NpmPackage[]> | undefined
  const read = async (): Promise<readonly NpmPackage[]> => {
    try {
      return await readPackages(file)
    } catch (error) {
      // The next page tries again: too many open files is no fault of the file.
      reading = undefined
      throw error
    }
  }
  const all = (): Promise<readonly NpmPackage[]> => (reading ??= read())
  return { all, page: async (request) => keysetPage(await all(), nameOf, request) }
}

/** The 20,000 most used packages that this package carries. */
export const packageSource: PackageSource = openPackages(new URL('../../data/packages.csv', import.meta.url))

async function readPackages(file: URL): Promise<readonly NpmPackage[]> {
  const [header, ...lines] = (await readFile(file, 'utf8')).trimEnd().split(/\r?\n/)
  z.literal(HEADER).parse(header)
  const rows = lines.map((line) => {
    const [name, version, downloads] = line.split(',')
    return { name, version, downloads: Number(downloads) }
  })
  return z.array(npmPackage).parse(rows).toSorted(byKey(nameOf))
}

function nameOf({ name }: NpmPackage): string {
  return name
}
