import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The project's root folder. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Marks every process that tests start, so that the run can tell what it left behind. */
export const CHILD_MARK = 'CRONCE_TEST_CHILD'

const RUN_NAME = 'CRONCE_TEST_RUN'

/** The name of this test run: the id of its first process. */
export function nameTestRun(): string {
  process.env[RUN_NAME] ??= String(process.pid)
  return process.env[RUN_NAME]
}

/**
 * The environment of a child: ours and the given one, without `REDIS_URL`. A test that wants its child on a Redis names
 * it; a Redis that the developer has in mind for something else is never touched by accident.
 */
export function childEnv(extra: Readonly<Record<string, string | undefined>> = {}): NodeJS.ProcessEnv {
  const { REDIS_URL: _, ...inherited } = process.env
  return { ...inherited, [CHILD_MARK]: nameTestRun(), ...extra }
}

/** The redis-server that the bootstrap found or fetched, else one on the PATH, else the one fetched by an earlier run. */
export function redisBinary(): string | undefined {
  const named = process.env['CRONCE_REDIS_SERVER']
  if (named !== undefined && named !== '') return named
  return onPath('redis-server') ?? onPath('valkey-server') ?? executable(join(ROOT, '.cache/redis/redis-server'))
}

/** The Redis that the developer gave, used only where no redis-server binary can be started. */
export function sharedRedisUrl(): string | undefined {
  return process.env['REDIS_URL'] || undefined
}

/** Whether this is a CI run, where nothing may be skipped. */
export function isCi(): boolean {
  return ['true', '1'].includes(process.env['CI'] ?? '')
}

/** The Chromium to drive: `CRONCE_CHROMIUM`, else one of the usual names on the PATH. */
export function chromiumBinary(): string | undefined {
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
  return process.env['CRONCE_CHROMIUM'] || names.map(onPath).find((path) => path !== undefined)
}

/** A program of that name on the PATH. */
export function onPath(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '')
  return folders.map((folder) => executable(join(folder, name))).find((path) => path !== undefined)
}

function executable(path: string): string | undefined {
  try {
    accessSync(path, constants.X_OK)
    return path
  } catch {
    return undefined
  }
}
