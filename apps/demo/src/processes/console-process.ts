import type { DemoConfig } from '../config.ts'
import { startApp } from './app-process.ts'

/** The console as a process of its own, beside the fleet. */
export interface ConsoleProcess {
  readonly url: string
  /** Signs in as an operator; works once. */
  readonly signInUrl: string
  stop(deadlineMs: number): Promise<void>
}

export interface ConsoleOptions {
  readonly config: DemoConfig
  readonly service: string
  /** It ended without having been told to. */
  readonly onDeath: (lastLines: readonly string[]) => void
}

const LISTENING_WITHIN_MS = 15_000

/** Starts the console on a free port of this machine. Undefined where it does not come up: the demo is no worse for it. */
export async function startConsole({ config, service, onDeath }: ConsoleOptions): Promise<ConsoleProcess | undefined> {
  let onListening: (urls: { url: string; signInUrl: string }) => void = () => undefined
  const listening = new Promise<{ url: string; signInUrl: string }>((resolve) => {
    onListening = resolve
  })
  const app = startApp({
    app: 'console',
    id: 'console',
    env: {
      ...config.inherited,
      REDIS_URL: config.REDIS_URL,
      CRONCE_SERVICE: service,
      CRONCE_CONSOLE_LINK: 'operator',
      CRONCE_SHUTDOWN_TIMEOUT: '3s',
      HOST: '',
      PORT: '',
      LOG_LEVEL: 'info',
    },
    onLine({ fields: { url, signInUrl } }) {
      if (typeof url === 'string' && typeof signInUrl === 'string') onListening({ url, signInUrl })
    },
    onEnd(process, { lastLines }) {
      if (process.state === 'died') onDeath(lastLines)
    },
  })
  const late = new Promise<undefined>((resolve) => {
    AbortSignal.timeout(LISTENING_WITHIN_MS).addEventListener('abort', () => resolve(undefined))
  })
  const urls = await Promise.race([listening, app.ended.then(() => undefined), late])
  const stop = async (deadlineMs: number) => void (await app.stop(deadlineMs))
  if (urls !== undefined) return { ...urls, stop }
  await app.kill()
  return undefined
}
