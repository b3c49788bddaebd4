import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type RedisServer, ROOT, type SpawnedProcess, spawnProcess } from '../support/index.ts'

export const TOKENS = {
  viewer: 'viewer-token-of-vera-0123456789',
  operator: 'operator-token-of-olga-0123456789',
  admin: 'admin-token-of-ada-0123456789',
} as const

export interface ConsoleProcess {
  readonly url: string
  /** Works once. */
  readonly signInUrl: string
  readonly process: SpawnedProcess
}

export interface ConsoleOptions {
  readonly redis: Pick<RedisServer, 'url'>
  readonly service: string
  readonly env?: Readonly<Record<string, string>> | undefined
}

/** A console of its own process, from the sources, that knows {@link TOKENS}. */
export async function startConsoleProcess({ redis, service, env = {} }: ConsoleOptions): Promise<ConsoleProcess> {
  const process = await spawnProcess({
    file: 'apps/console/src/main.ts',
    env: {
      REDIS_URL: redis.url,
      CRONCE_SERVICE: service,
      CRONCE_CONSOLE_TOKENS: Object.entries(TOKENS)
        .map(([role, token]) => `the-${role}:${role}:${token}`)
        .join(' '),
      ...env,
    },
  })
  const { json } = await process.waitForLine((line) => line.json?.['msg'] === 'listening', { timeoutMs: 30_000 })
  return { url: String(json?.['url']), signInUrl: String(json?.['signInUrl']), process }
}

const CONSOLE = join(ROOT, 'apps/console')

/** What the page is made of. */
const SOURCES = ['page', 'src', 'vite.config.ts', 'package.json']

/**
 * The page that is tested is that of the sources: built, unless what was last built is younger than all of them. Test files run side by
 * side, and a build takes away the page that another one's console is serving.
 */
export async function buildPage(): Promise<void> {
  const builtAt = await changedAt(join(CONSOLE, 'dist/page/index.html'))
  const changes = await Promise.all(SOURCES.map((name) => newestIn(join(CONSOLE, name))))
  if (builtAt > Math.max(...changes)) return
  // As it is shipped: the tests' own NODE_ENV would make it another one.
  const env = { NODE_ENV: 'production' }
  const file = join(CONSOLE, 'node_modules/vite/bin/vite.js')
  const build = await spawnProcess({ file, args: ['build'], cwd: CONSOLE, env })
  const { code } = await build.exited
  if (code !== 0) throw new Error(`the page was not built: ${build.lines.map(({ text }) => text).join('\n')}`)
}

/** When a file was last changed, epoch ms; 0 where there is none. */
async function changedAt(path: string): Promise<number> {
  return await stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  )
}

async function newestIn(path: string): Promise<number> {
  const names = await readdir(path, { recursive: true }).catch(() => [''])
  return Math.max(...(await Promise.all(names.map((name) => changedAt(join(path, name))))))
}
