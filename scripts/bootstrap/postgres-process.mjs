import { spawn } from 'node:child_process'
import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from './free-port.mjs'
import { atOurEnd } from './keeper.mjs'
import { runProgram } from './program.mjs'
import { SetupError } from './setup-error.mjs'

const READY_WITHIN_MS = 20_000
const ASK_EVERY_MS = 50
const USER = 'cronce_demo'

/** What is written need not outlive a power cut: the folder goes with us. */
const SETTINGS = ['fsync=off', 'full_page_writes=off', 'max_connections=300', 'unix_socket_directories=']

/**
 * Starts a Postgres that is ours alone: free port of 127.0.0.1, folder of its own, nothing kept. It ends with this process, however
 * that ends.
 *
 * @param {string} binaries The folder of `initdb` and `postgres`.
 * @returns {Promise<import('./postgres.mjs').Postgres>}
 */
export async function startPostgresProcess(binaries) {
  const user = await unprivilegedUser()
  const folder = mkdtempSync(join(tmpdir(), 'cronce-postgres-'))
  if (user !== undefined) chownSync(folder, user.uid, user.gid)
  const data = join(folder, 'data')
  const init = ['-D', data, '-U', USER, '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync']
  const made = await ended(spawn(join(binaries, 'initdb'), init, { ...user, cwd: folder, stdio: 'ignore' }))
  if (made !== 0) {
    rmSync(folder, { recursive: true, force: true })
    throw new SetupError(`${join(binaries, 'initdb')} ended with ${made}`)
  }
  const port = await freePort()
  const settings = [...SETTINGS, 'listen_addresses=127.0.0.1', `port=${port}`]
  const args = ['-D', data, ...settings.flatMap((setting) => ['-c', setting])]
  // In a session of its own, so that a Ctrl-C reaches it only after those who work on it have ended.
  const server = spawn(join(binaries, 'postgres'), args, { ...user, cwd: folder, stdio: 'ignore', detached: true })
  const over = ended(server)
  // SIGQUIT is its immediate shutdown: its children end with it, which after SIGKILL they would have to find out.
  const keeper = atOurEnd('kill -QUIT "$1" 2>/dev/null; sleep 1; rm -rf "$2"', [String(server.pid ?? ''), folder])
  const stop = async () => {
    server.kill('SIGQUIT')
    await over
    rmSync(folder, { recursive: true, force: true })
    keeper.release()
  }
  const state = await Promise.race([over.then(() => 'ended'), answers(port)])
  if (state === 'ready') return { url: `postgresql://${USER}@127.0.0.1:${port}/postgres`, stop }
  await stop()
  throw new SetupError(`${join(binaries, 'postgres')} did not start`)
}

/**
 * Postgres refuses to run as root: there it runs as its own user, else as nobody.
 *
 * @returns {Promise<{ uid: number, gid: number } | undefined>}
 */
async function unprivilegedUser() {
  if (process.getuid?.() !== 0) return undefined
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = await Promise.all([runProgram('id', ['-u', name]), runProgram('id', ['-g', name])])
    if (uid.code === 0 && gid.code === 0) return { uid: Number(uid.stdout), gid: Number(gid.stdout) }
  }
  return undefined
}

/**
 * @param {import('node:child_process').ChildProcess} child
 * @returns {Promise<number>}
 */
async function ended(child) {
  return await new Promise((resolve) =>
    child.once('error', () => resolve(127)).once('close', (code) => resolve(code ?? 1)),
  )
}

/**
 * @param {number} port
 * @returns {Promise<'ready' | 'silent'>}
 */
async function answers(port) {
  const deadline = performance.now() + READY_WITHIN_MS
  while (performance.now() < deadline) {
    if (await greets(port)) return 'ready'
    await delay(ASK_EVERY_MS)
  }
  return 'silent'
}

/**
 * Whether it takes a client: protocol 3.0, its first answer is R (authentication) once it has started, E before that.
 *
 * @param {number} port
 * @returns {Promise<boolean>}
 */
async function greets(port) {
  return await new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', timeout: 1000 })
    const settle = (/** @type {boolean} */ answer) => {
      socket.destroy()
      resolve(answer)
    }
    for (const event of ['error', 'timeout', 'close']) socket.once(event, () => settle(false))
    socket.once('data', (data) => settle(data.toString('latin1').startsWith('R')))
    const body = Buffer.from(`\0\x03\0\0user\0${USER}\0database\0postgres\0\0`, 'latin1')
    const head = Buffer.alloc(4)
    head.writeUInt32BE(body.length + 4)
    socket.write(Buffer.concat([head, body]))
  })
}
