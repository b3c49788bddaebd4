import { chmodSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CACHE } from './folders.mjs'
import { findProgram, isExecutable, runProgram } from './program.mjs'
import { showStep } from './progress.mjs'

const HOME = join(CACHE, 'redis')
const BINARY = join(HOME, 'redis-server')

// Both, whatever the system has of them: the server is a link from the one into the other.
const SERVER = ['redis-server', 'redis-tools']
const USUAL_LIBRARIES = ['libjemalloc2', 'liblzf1', 'libatomic1']

// The libraries lie beside the server, where the system's loader would not look.
const WRAPPER = `#!/bin/sh
root=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)/root
for folder in "$root"/usr/lib/*-linux-* "$root"/lib/*-linux-*; do
  [ -d "$folder" ] && LD_LIBRARY_PATH="$folder\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
done
export LD_LIBRARY_PATH
exec "$root/usr/bin/redis-server" "$@"
`

/**
 * Debian's and Ubuntu's redis-server, unpacked into the project's cache folder: no root needed, nothing of the system
 * touched. Fetched once. Undefined where that is no way: another system, no network.
 *
 * @returns {Promise<string | undefined>}
 */
export async function fetchRedisBinary() {
  if (isExecutable(BINARY)) return BINARY
  if (findProgram('apt-get') === undefined || findProgram('dpkg-deb') === undefined) return undefined
  const step = showStep("fetching redis-server from the system's packages")
  const work = `${HOME}-${process.pid}`
  try {
    await fetchInto(work, (line) => step.note(line))
    rmSync(HOME, { recursive: true, force: true })
    renameSync(work, HOME)
    step.done()
    return BINARY
  } catch (error) {
    step.fail()
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    return undefined
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/**
 * @param {string} work
 * @param {(line: string) => void} onLine
 */
async function fetchInto(work, onLine) {
  const root = join(work, 'root')
  for (const folder of ['lists/partial', 'cache/archives/partial', 'packages', 'root']) {
    mkdirSync(join(work, folder), { recursive: true })
  }
  const apt = async (/** @type {string[]} */ ...args) => {
    return await runProgram('apt-get', [...aptOptions(work), ...args], { cwd: join(work, 'packages'), onLine })
  }
  succeed('apt-get update', await apt('update'))
  succeed('apt-get download', await apt('download', ...SERVER))
  // Where a library is not to be had, the system may well have it: whether the server starts will tell.
  for (const name of libraries(await apt('--simulate', 'install', ...SERVER))) await apt('download', name)
  for (const file of readdirSync(join(work, 'packages'))) {
    succeed('dpkg-deb', await runProgram('dpkg-deb', ['-x', join(work, 'packages', file), root]))
  }
  for (const folder of ['lists', 'cache', 'packages']) rmSync(join(work, folder), { recursive: true, force: true })
  writeFileSync(join(work, 'redis-server'), WRAPPER)
  chmodSync(join(work, 'redis-server'), 0o755)
  succeed('redis-server', await runProgram(join(work, 'redis-server'), ['--version']))
}

/**
 * @param {string} work
 */
function aptOptions(work) {
  const options = [`Dir::State::Lists=${join(work, 'lists')}`, `Dir::Cache=${join(work, 'cache')}`]
  // As root, apt would fetch as a user who may not write into our folder.
  return [...options, 'APT::Sandbox::User=', 'Debug::NoLocking=1'].flatMap((option) => ['-o', option])
}

/**
 * The libraries that an installation would add to this system; the usual ones where apt cannot say, because the system
 * is in the middle of another installation.
 *
 * @param {{ code: number, stdout: string }} simulation
 */
function libraries({ code, stdout }) {
  if (code !== 0) return USUAL_LIBRARIES
  const added = [...stdout.matchAll(/^Inst (\S+)/gm)].map(([, name = '']) => name)
  return added.filter((name) => !SERVER.includes(name))
}

/**
 * @param {string} what
 * @param {{ code: number, output: string }} end
 */
function succeed(what, { code, output }) {
  if (code !== 0) throw new Error(`${what} ended with ${code}:\n${output}`)
}
