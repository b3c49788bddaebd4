import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { childEnv, redisBinary, sharedRedisUrl } from './config.ts'
import { freePort } from './free-port.ts'
import { type Keeper, keepProcess } from './process-keeper.ts'
import { startRedisContainer } from './redis-container.ts'
import { pingRedis } from './redis-ping.ts'
import { waitUntil } from './wait-until.ts'

export interface RedisOptions {
  /** Timer ticks a second; delayed jobs are late by up to one tick. Default 100. */
  readonly hz?: number
  /** Such as `20mb`. Default unlimited. */
  readonly maxmemory?: string
  /** Default `noeviction`, which BullMQ needs. */
  readonly maxmemoryPolicy?: string
  /** Append-only file, by its fsync. With `no`, a restart starts empty. Default `no`. */
  readonly appendonly?: 'no' | 'everysec' | 'always'
  /** Default `single`. A cluster node has no slots yet: see `startRedisCluster`. */
  readonly mode?: 'single' | 'cluster'
  /** Any other directive of redis.conf. */
  readonly config?: Readonly<Record<string, string>>
}

export interface RedisServer {
  readonly url: string
  readonly port: number
  /** `own`: a process of this test alone. `shared`: somebody's Redis; do not flush it, and it can't be killed. */
  readonly owner: 'own' | 'shared'
  /** Ends the server and removes its folder. Safe to call twice. */
  stop(): Promise<void>
  /**
   * Sends a signal, by default SIGKILL, and waits for the end where the signal means it. SIGSTOP freezes the server (it
   * accepts connections and answers nothing), SIGCONT wakes it.
   */
  kill(signal?: NodeJS.Signals): Promise<void>
  /** Kills what runs and starts again on the same port and folder. What survives depends on `appendonly`. */
  restart(): Promise<void>
}

/**
 * Starts a Redis for this test file alone: own folder, free port, 127.0.0.1. It dies with the process that started it,
 * however that dies. Without a redis-server binary it falls back to the Redis at `REDIS_URL`, else to a container;
 * there, tests must use a service name of their own and never flush.
 *
 * @throws Error when the server does not answer PING within 10 s
 * @example
 * const redis = await startRedis({ appendonly: 'always' })
 * afterAll(() => redis.stop())
 */
export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const binary = redisBinary()
  if (binary !== undefined) return await startOwn(binary, options)
  const url = sharedRedisUrl()
  return url === undefined ? await startRedisContainer() : shareRedis(url)
}

function shareRedis(url: string): RedisServer {
  const refuse = async () => {
    throw new Error('the Redis at REDIS_URL is shared: install redis-server to run tests that kill it')
  }
  return {
    url,
    port: Number(new URL(url).port || 6379),
    owner: 'shared',
    stop: async () => {},
    kill: refuse,
    restart: refuse,
  }
}

async function startOwn(binary: string, options: RedisOptions): Promise<RedisServer> {
  const folder = await mkdtemp(join(tmpdir(), 'cronce-redis-'))
  let port = await freePort()
  let life: Life
  for (let tries = 1; ; tries++) {
    try {
      life = await startLife(binary, [...redisArguments(options, { port, folder })], { port, folder })
      break
    } catch (error) {
      if (tries === 3) throw error
      port = await freePort() // somebody took the port between our look and Redis's bind
    }
  }
  const args = redisArguments(options, { port, folder })
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    owner: 'own',
    stop: async () => {
      await endLife(life)
      await rm(folder, { recursive: true, force: true })
    },
    kill: async (signal = 'SIGKILL') => {
      life.process.kill(signal)
      if (signal !== 'SIGSTOP' && signal !== 'SIGCONT') await life.exited
    },
    restart: async () => {
      await endLife(life)
      life = await startLife(binary, args, { port, folder })
    },
  }
}

interface Place {
  readonly port: number
  readonly folder: string
}

function redisArguments(options: RedisOptions, { port, folder }: Place): string[] {
  const appendonly = options.appendonly ?? 'no'
  const directives: Record<string, string> = {
    port: String(port),
    bind: '127.0.0.1',
    dir: folder,
    save: '',
    hz: String(options.hz ?? 100),
    appendonly: appendonly === 'no' ? 'no' : 'yes',
    'maxmemory-policy': options.maxmemoryPolicy ?? 'noeviction',
    ...(appendonly === 'no' ? {} : { appendfsync: appendonly }),
    ...(options.maxmemory === undefined ? {} : { maxmemory: options.maxmemory }),
    ...(options.mode === 'cluster' ? { 'cluster-enabled': 'yes', 'cluster-node-timeout': '2000' } : {}),
    ...options.config,
  }
  return Object.entries(directives).flatMap(([name, value]) => [`--${name}`, value])
}

/** One process of the server, between a start and its end. */
interface Life {
  readonly process: ChildProcess
  readonly exited: Promise<void>
  readonly keeper: Keeper
}

async function startLife(binary: string, args: readonly string[], { port, folder }: Place): Promise<Life> {
  const child = spawn(binary, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], detached: true, env: childEnv() })
  const output: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => output.push(String(data)))
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()).once('error', () => resolve()))
  if (child.pid === undefined) throw new Error(`could not start ${binary}`)
  const life = {
    process: child,
    exited,
    keeper: keepProcess({ pid: child.pid, name: `redis-server on port ${port}`, folder }),
  }
  try {
    await waitUntil(async () => child.exitCode !== null || (await pingRedis(port)) === 'ready', {
      message: 'PONG of Redis',
    })
    if (child.exitCode !== null) throw new Error(`redis-server ended with ${child.exitCode}: ${output.join('')}`)
  } catch (error) {
    await endLife(life)
    throw error
  }
  return life
}

async function endLife(life: Life): Promise<void> {
  life.process.kill('SIGKILL')
  await life.exited
  life.keeper.release()
}
