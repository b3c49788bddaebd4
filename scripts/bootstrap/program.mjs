import { spawn } from 'node:child_process'
import { accessSync, constants, mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { BIN, CACHE, ROOT } from './folders.mjs'

const WINDOWS = process.platform === 'win32'

/**
 * Our environment, with the programs of the installed packages first on the PATH.
 *
 * @param {Record<string, string | undefined>} [extra]
 * @returns {NodeJS.ProcessEnv}
 */
export function environment(extra = {}) {
  return { ...process.env, PATH: `${BIN}${delimiter}${process.env['PATH'] ?? ''}`, ...home(), ...extra }
}

/** Plain text where nobody looks at a terminal: some tools write colours into files and pipes too. */
export const PLAIN = process.stdout.isTTY || process.env['FORCE_COLOR'] ? {} : { NO_COLOR: '1' }

/** Package managers cannot do without a home folder that they may write to; service users often have none. */
function home() {
  const folder = homedir()
  if (folder !== '' && hasAccess(folder, constants.W_OK)) return {}
  const ours = join(CACHE, 'home')
  mkdirSync(ours, { recursive: true })
  return { HOME: ours, npm_config_cache: join(ours, '.npm') }
}

/**
 * A program of that name on the PATH.
 *
 * @param {string} name
 */
export function findProgram(name) {
  const names = WINDOWS ? [`${name}.exe`, `${name}.cmd`] : [name]
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '')
  return folders.flatMap((folder) => names.map((file) => join(folder, file))).find(isExecutable)
}

/**
 * @param {string} path
 */
export function isExecutable(path) {
  return hasAccess(path, constants.X_OK)
}

/**
 * @param {string} path
 * @param {number} mode
 */
function hasAccess(path, mode) {
  try {
    accessSync(path, mode)
    return true
  } catch {
    return false
  }
}

/**
 * @typedef {object} ProgramOptions
 * @property {Record<string, string | undefined>} [env] Instead of {@link environment}.
 * @property {string} [cwd] Default: the project's root.
 * @property {(line: string) => void} [onLine] Sees each line as it comes.
 * @property {number} [timeoutMs] Killed after this long. Default: never.
 */

/**
 * Runs a program to its end and answers its code and all that it wrote. A program that is not there ends with code 127.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {ProgramOptions} [options]
 * @returns {Promise<{ code: number, output: string, stdout: string }>}
 */
export async function runProgram(command, args, options = {}) {
  const { env = environment(), cwd = ROOT, onLine = () => {}, timeoutMs } = options
  const child = spawn(command, args, {
    cwd,
    env,
    shell: WINDOWS && command.endsWith('.cmd'),
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(timeoutMs === undefined ? {} : { timeout: timeoutMs, killSignal: 'SIGKILL' }),
  })
  let output = ''
  let stdout = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8')
    stream.on('data', (/** @type {string} */ text) => {
      output += text
      if (stream === child.stdout) stdout += text
      const line = text.trim().split('\n').at(-1)
      if (line) onLine(line)
    })
  }
  const code = await new Promise((resolve) => {
    child.once('error', () => resolve(127))
    child.once('close', (exitCode) => resolve(exitCode ?? 1))
  })
  return { code, output, stdout }
}
