import { spawn } from 'node:child_process'

/** @typedef {{ release(): void }} Keeper */

const WINDOWS = process.platform === 'win32'

/**
 * Runs a line of shell when this process ends, however it ends: a shell of its own session waits for the end of a pipe
 * that only we hold open. On Windows there is no such shell, and an orderly end must do.
 *
 * @param {string} script May use `$1`, `$2` ... for `args`.
 * @param {string[]} args
 * @returns {Keeper}
 */
export function atOurEnd(script, args) {
  if (WINDOWS) return { release: () => {} }
  const stdio = /** @type {['pipe', 'ignore', 'ignore']} */ (['pipe', 'ignore', 'ignore'])
  const shell = spawn('/bin/sh', ['-c', `read _; ${script}`, 'keeper', ...args], { stdio, detached: true })
  shell.on('error', () => {})
  shell.stdin.on('error', () => {})
  shell.unref()
  if ('unref' in shell.stdin && typeof shell.stdin.unref === 'function') shell.stdin.unref()
  return { release: () => void shell.kill('SIGKILL') }
}
