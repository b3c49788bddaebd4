import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Where `npm run cronce` looks for a running system, and where the receiver's log stays after it: not under version control. */
export const STATE_FOLDER = fileURLToPath(new URL('../../../.cronce', import.meta.url))

export interface RunningSystem {
  readonly redisUrl: string
  readonly service: string
  /** Where the console is, without what signs in. */
  readonly consoleUrl?: string
  readonly pid: number
}

/** Tells the command line where this system runs, unless another one that lives has done so. */
export async function announce(folder: string, system: RunningSystem): Promise<'announced' | 'taken'> {
  await mkdir(folder, { recursive: true })
  const file = stateFile(folder)
  const other = await readPid(file)
  if (other !== undefined && other !== system.pid && isAlive(other)) return 'taken'
  // Written beside and renamed: nobody reads half of it.
  await writeFile(`${file}.${system.pid}`, `${JSON.stringify(system)}\n`, { mode: 0o600 })
  await rename(`${file}.${system.pid}`, file)
  return 'announced'
}

/** Takes back what this process announced. */
export async function withdraw(folder: string, pid: number): Promise<void> {
  if ((await readPid(stateFile(folder))) === pid) await rm(stateFile(folder), { force: true })
}

/** The file for a receiver's log of this process; those of processes that are gone are removed. */
export async function effectFile(folder: string, pid: number): Promise<string> {
  await mkdir(folder, { recursive: true })
  for (const name of await readdir(folder)) {
    const owner = /^effects-(\d+)\.ndjson$/.exec(name)?.[1]
    if (owner !== undefined && !isAlive(Number(owner))) await rm(join(folder, name), { force: true })
  }
  return join(folder, `effects-${pid}.ndjson`)
}

function stateFile(folder: string): string {
  return join(folder, 'state.json')
}

async function readPid(file: string): Promise<number | undefined> {
  try {
    const { pid } = JSON.parse(await readFile(file, 'utf8')) as { pid?: unknown }
    return typeof pid === 'number' && Number.isSafeInteger(pid) && pid > 0 ? pid : undefined
  } catch {
    return undefined
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: it lives and is somebody else's.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
