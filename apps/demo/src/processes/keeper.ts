import { spawn } from 'node:child_process'

/** Ends a child that must not outlive us. */
export interface Keeper {
  /** The child is gone. */
  release(): void
}

/**
 * Kills `pid` when this process ends, however it ends: a shell of its own session waits for the end of a pipe that only
 * we hold open. On Windows there is no such shell, and an orderly end must do.
 */
export function keepWithUs(pid: number): Keeper {
  if (process.platform === 'win32') return { release: () => undefined }
  const stdio: ['pipe', 'ignore', 'ignore'] = ['pipe', 'ignore', 'ignore']
  const shell = spawn('/bin/sh', ['-c', 'read _; kill -9 "$1" 2>/dev/null', 'keeper', String(pid)], {
    stdio,
    detached: true,
  })
  shell.on('error', () => undefined)
  shell.stdin.on('error', () => undefined)
  shell.unref()
  if ('unref' in shell.stdin && typeof shell.stdin.unref === 'function') shell.stdin.unref()
  return { release: () => void shell.kill('SIGKILL') }
}
