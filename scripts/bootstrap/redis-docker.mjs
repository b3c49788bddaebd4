import { setTimeout as delay } from 'node:timers/promises'
import { atOurEnd } from './keeper.mjs'
import { runProgram } from './program.mjs'
import { showStep } from './progress.mjs'
import { SetupError } from './setup-error.mjs'

const IMAGE = 'redis:7-alpine'
const SERVER = ['redis-server', '--save', '', '--appendonly', 'no', '--hz', '100', '--maxmemory-policy', 'noeviction']
const READY_WITHIN_MS = 30_000

/** Whether a Docker engine answers; the client alone is no use. */
export async function isDockerRunning() {
  const { code } = await runProgram('docker', ['info'], { timeoutMs: 5000 })
  return code === 0
}

/**
 * Runs Redis in a container on a random port of 127.0.0.1. It is removed when this process ends, however that ends.
 *
 * @returns {Promise<import('./redis.mjs').Redis>}
 */
export async function startRedisContainer() {
  const name = `cronce-redis-${process.pid}`
  const step = showStep(`starting ${IMAGE} in Docker`)
  const keeper = atOurEnd('docker rm -f "$1"', [name])
  const args = ['run', '--detach', '--rm', '--name', name, '--publish', '127.0.0.1::6379', IMAGE, ...SERVER]
  const { code, output } = await runProgram('docker', args, { onLine: (line) => step.note(line) })
  const port = code === 0 ? await publishedPort(name) : undefined
  if (port === undefined || !(await isReady(name))) {
    step.fail()
    throw new SetupError(`${output}\nDocker could not run ${IMAGE}`)
  }
  step.done()
  const stop = async () => {
    await runProgram('docker', ['rm', '-f', name])
    keeper.release()
  }
  return { url: `redis://127.0.0.1:${port}`, stop }
}

/**
 * @param {string} name
 */
async function publishedPort(name) {
  const { stdout } = await runProgram('docker', ['port', name, '6379/tcp'])
  return /:(\d+)\s*$/m.exec(stdout)?.[1]
}

/**
 * @param {string} name
 */
async function isReady(name) {
  const deadline = performance.now() + READY_WITHIN_MS
  while (performance.now() < deadline) {
    const { stdout } = await runProgram('docker', ['exec', name, 'redis-cli', 'ping'])
    if (stdout.includes('PONG')) return true
    await delay(100)
  }
  return false
}
