import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from './free-port.mjs'
import { atOurEnd } from './keeper.mjs'
import { SetupError } from './setup-error.mjs'

const READY_WITHIN_MS = 10_000
const TRIES = 3

/**
 * Starts a Redis that is ours alone: free port of 127.0.0.1, folder of its own, nothing kept. It ends with this process,
 * however that ends.
 *
 * @param {string} binary
 * @returns {Promise<import('./redis.mjs').Redis>}
 */
export async function startRedisProcess(binary) {
  let failure = ''
  for (let tries = 0; tries < TRIES; tries++) {
    const answer = await tryStart(binary) // somebody may take the port between our look and Redis's bind
    if (typeof answer !== 'string') return answer
    failure = answer
  }
  throw new SetupError(`${binary} did not start:\n${failure}`)
}

/**
 * @param {string} binary
 * @returns {Promise<import('./redis.mjs').Redis | string>} Its output where it did not start.
 */
async function tryStart(binary) {
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), 'cronce-redis-'))
  // In a session of its own, so that a Ctrl-C reaches it only after those who work on it have ended.
  const child = spawn(binary, redisArguments(port, folder), {
    cwd: folder,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data))
  const ended = new Promise((resolve) => child.once('error', resolve).once('close', resolve))
  const keeper = atOurEnd('kill -KILL "$1" 2>/dev/null; rm -rf "$2"', [String(child.pid ?? ''), folder])
  const stop = async () => {
    child.kill('SIGKILL')
    await ended
    rmSync(folder, { recursive: true, force: true })
    keeper.release()
  }
  const state = await Promise.race([ended.then(() => 'ended'), answersPing(port)])
  if (state === 'ready') return { url: `redis://127.0.0.1:${port}`, stop }
  await stop()
  return output
}

/**
 * @param {number} port
 * @param {string} folder
 */
function redisArguments(port, folder) {
  const persistence = ['--save', '', '--appendonly', 'no', '--dir', folder]
  // Delayed jobs are late by up to one tick of Redis's timer: 100 a second instead of 10.
  const service = ['--bind', '127.0.0.1', '--port', String(port), '--hz', '100', '--maxmemory-policy', 'noeviction']
  return [...service, ...persistence]
}

/**
 * @param {number} port
 * @returns {Promise<'ready' | 'silent'>}
 */
async function answersPing(port) {
  const deadline = performance.now() + READY_WITHIN_MS
  while (performance.now() < deadline) {
    if ((await ping(port)) === 'ready') return 'ready'
    await delay(20)
  }
  return 'silent'
}

/**
 * @param {number} port
 * @returns {Promise<'ready' | 'silent'>}
 */
async function ping(port) {
  return await new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', timeout: 1000 })
    const settle = (/** @type {'ready' | 'silent'} */ state) => {
      socket.destroy()
      resolve(state)
    }
    for (const event of ['error', 'timeout', 'close']) socket.once(event, () => settle('silent'))
    socket.once('data', (data) => settle(data.toString().startsWith('+PONG') ? 'ready' : 'silent'))
    socket.write('PING\r\n')
  })
}
