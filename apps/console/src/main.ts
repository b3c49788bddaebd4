import { fileURLToPath } from 'node:url'
import { systemClock } from '@cronce/core'
import { isLoopback, runProcess, stopOnSignals } from '@cronce/process'
import { pino } from 'pino'
import { createAccess } from './access.ts'
import { type ConsoleConfig, readConsoleConfig } from './config.ts'
import { createHttpServer } from './http-server.ts'
import { proxyOf } from './proxy-config.ts'

/** The built page; beside the built server, and there as well when the server runs from its sources. */
const PAGE_FOLDER = fileURLToPath(new URL('../dist/page', import.meta.url))

async function run(config: ConsoleConfig): Promise<void> {
  const log = pino({ level: config.LOG_LEVEL })
  const { CRONCE_CONSOLE_TOKENS: tokens, CRONCE_CONSOLE_LINK: linkRole, CRONCE_CONSOLE_SESSION: sessionMs } = config
  const reach = isLoopback(config.HOST) ? 'loopback' : 'network'
  const link =
    reach === 'loopback' && linkRole !== 'none' ? { name: config.CRONCE_OPERATOR, role: linkRole } : undefined
  const access = createAccess({ tokens, link, sessionMs, clock: systemClock })
  const proxy = proxyOf(config)
  const forwardedFrom = config.CRONCE_CONSOLE_PROXY_FROM
  const isAlone = reach === 'loopback' && proxy === undefined && forwardedFrom.length === 0
  const server = await createHttpServer({
    ...{ redisUrl: config.REDIS_URL, service: config.CRONCE_SERVICE, release: config.CRONCE_RELEASE },
    pageFolder: PAGE_FOLDER,
    ...{ access, proxy, forwardedFrom, sessionMs, reach, log, triggerSecrets: config.CRONCE_TRIGGER_SECRETS },
    traceUrl: config.CRONCE_CONSOLE_TRACE_URL,
    metrics: isAlone && tokens.length === 0 ? 'public' : 'viewers',
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

await runProcess('console', () => run(readConsoleConfig()))
