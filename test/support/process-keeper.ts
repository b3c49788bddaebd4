import { type ChildProcess, spawn } from 'node:child_process'
import { childEnv } from './config.ts'

/** Watches over a process that must not outlive us. */
export interface Keeper {
  /** Ends the watch: the process is gone, or somebody else's now. */
  release(): void
}

interface KeptProcess {
  readonly pid: number
  /** What a person would call it. */
  readonly name: string
  /** Removed along with it. */
  readonly folder?: string
}

const kept = new Map<number, string>()

/** What is being watched in this process: names of children that nobody has stopped. */
export function keptProcesses(): readonly string[] {
  return [...kept.values()]
}

/**
 * Kills the process group of `pid` and removes `folder` when this process ends, by SIGKILL as well: a shell waits for the
 * end of a pipe that only we hold open. `pid` must lead its group (`detached: true`), so that Ctrl-C in a terminal
 * reaches us alone.
 */
export function keepProcess({ pid, name, folder = '' }: KeptProcess): Keeper {
  const script = 'read _; kill -9 "-$1" 2>/dev/null; [ -z "$2" ] || rm -rf "$2"'
  const stdio: ['pipe', 'ignore', 'ignore'] = ['pipe', 'ignore', 'ignore']
  const shell = spawn('/bin/sh', ['-c', script, 'keeper', String(pid), folder], {
    stdio,
    detached: true,
    env: childEnv(),
  })
  shell.stdin.on('error', () => {})
  unreference(shell)
  kept.set(pid, name)
  const release = () => {
    kept.delete(pid)
    shell.kill('SIGKILL')
  }
  return { release }
}

function unreference(shell: ChildProcess): void {
  shell.unref()
  const pipe = shell.stdin as unknown as { unref?: () => void }
  pipe.unref?.()
}
