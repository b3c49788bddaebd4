import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './folders.mjs'
import { environment, runProgram } from './program.mjs'
import { showStep } from './progress.mjs'
import { SetupError } from './setup-error.mjs'

const STAMP = join(ROOT, 'node_modules', '.cronce-installed')
const NPX = process.platform === 'win32' ? 'npx.cmd' : 'npx'

/** Installs the locked packages, unless the last install was of this very lockfile. */
export async function install() {
  const wanted = fingerprint()
  if (readStamp() === wanted) return
  const step = showStep('installing packages')
  const args = ['--yes', packageManager(), 'install', '--frozen-lockfile']
  const { code, output } = await runProgram(NPX, args, { env: installEnvironment(), onLine: (line) => step.note(line) })
  if (code !== 0) {
    step.fail()
    const network = /ENOTFOUND|ECONN|ETIMEDOUT|EAI_AGAIN|fetch failed/.test(output) ? '; is the registry in reach?' : ''
    throw new SetupError(`${output.trimEnd()}\n"${NPX} ${args.join(' ')}" ended with ${code}${network}`)
  }
  writeFileSync(STAMP, wanted)
  step.done()
}

/** Exactly the version that the project names: another one would refuse to work. */
function packageManager() {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  return String(manifest.packageManager).replace(/\+.*$/, '')
}

function fingerprint() {
  const hash = createHash('sha256')
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml']) hash.update(readFileSync(join(ROOT, file)))
  return hash.digest('hex')
}

function readStamp() {
  try {
    return readFileSync(STAMP, 'utf8')
  } catch {
    return undefined
  }
}

function installEnvironment() {
  const env = environment({ CI: 'true' }) // never asks
  // `npm run --silent` would silence the package manager's errors too.
  delete env['npm_config_loglevel']
  return env
}
