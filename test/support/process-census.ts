import { readdirSync, readFileSync } from 'node:fs'
import { CHILD_MARK, nameTestRun } from './config.ts'
import { waitUntil } from './wait-until.ts'

/** Before all tests: gives the run a name that every process started for it carries in its environment. */
export function setup(): void {
  nameTestRun()
}

/**
 * After all tests: fails when a process of the run is still there, a grandchild that nobody waited for included, and
 * kills it. On Linux only; elsewhere each test file's own check must do.
 */
export async function teardown(): Promise<void> {
  try {
    await waitUntil(() => leftProcesses().length === 0, { message: 'the end of every process', timeoutMs: 5000 })
  } catch (error) {
    const left = leftProcesses()
    for (const { pid } of left) process.kill(pid, 'SIGKILL')
    process.exitCode = 1 // vitest only prints what a teardown throws
    const names = left.map(({ pid, command }) => `  ${pid} ${command}`).join('\n')
    throw new Error(`the tests left processes behind, now killed:\n${names}`, { cause: error })
  }
}

interface Left {
  readonly pid: number
  readonly command: string
}

function leftProcesses(): Left[] {
  const mark = `${CHILD_MARK}=${nameTestRun()}`
  return processIds().flatMap((pid) => {
    const carriesMark = readProcess(pid, 'environ').includes(mark)
    return carriesMark ? [{ pid, command: readProcess(pid, 'cmdline').join(' ').slice(0, 200) }] : []
  })
}

function processIds(): number[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid)
}

function readProcess(pid: number, file: 'environ' | 'cmdline'): string[] {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8').split('\0')
  } catch {
    return [] // it has just ended, or is somebody else's
  }
}
