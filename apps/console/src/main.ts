import { fileURLToPath } from 'node:url'
import { isCronceError, systemClock } from '@cronce/core'
import { pino } from 'pino'
import { createAccess } from './access.ts'
import { type ConsoleConfig, isLoopback, readConsoleConfig } from './config.ts'
import { createHttpServer } from './http-server.ts'
import { stopOnSignals } from './stop-signals.ts'

/** The built page; beside the built server, and there as well when the server runs from its sources. */
const PAGE_FOLDER = fileURLToPath(new URL('../dist/page', import.meta.url))

async function run(config: ConsoleConfig): Promise<void> {
  const log = pino({ level: config.LOG_LEVEL })
  const { CRONCE_CONSOLE_TOKENS: tokens, CRONCE_CONSOLE_LINK: linkRole, CRONCE_CONSOLE_SESSION: sessionMs } = config
  const reach = isLoopback(config.HOST) ? 'loopback' : 'network'
  const link =
    reach === 'loopback' && linkRole !== 'none' ? { name: config.CRONCE_OPERATOR, role: linkRole } : undefined
  const access = createAccess({ tokens, link, sessionMs, clock: systemClock })
  const server = await createHttpServer({
    ...{ redisUrl: config.REDIS_URL, service: config.CRONCE_SERVICE, pageFolder: PAGE_FOLDER },
    ...{ access, sessionMs, reach, log },
    metrics: reach === 'loopback' && tokens.length === 0 ? 'public' : 'viewers',
  })
  stopOnSignals({
    deadlineMs: config.CRONCE_SHUTDOWN_TIMEOUT,
    async stop(signal) {
      log.info({ signal }, 'stopping')
      await server.close()
    },
    onForced: (reason, error) => log.error({ err: error }, `stopped by force: ${reason}`),
  })
  const url = await server.listen({ host: config.HOST, port: config.PORT })
  const { linkToken } = access
  const signIn = linkToken === undefined ? {} : { signInUrl: new URL(`/login?token=${linkToken}`, url).href }
  log.info({ url, service: config.CRONCE_SERVICE, ...signIn }, 'listening')
}

try {
  await run(readConsoleConfig())
} catch (error) {
  const isRefusal = isCronceError(error, 'CRONCE_CONFIG_INVALID')
  const lines = isRefusal ? error.faults.map(({ path, message }) => `  ${path}: ${message}`) : [String(error)]
  console.error([isRefusal ? 'the configuration is refused:' : 'the console did not start:', ...lines].join('\n'))
  // What was opened until here would keep the process alive.
  process.exit(isRefusal ? 2 : 1)
}
