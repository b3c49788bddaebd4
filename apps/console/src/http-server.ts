import { CronceError, systemClock } from '@cronce/core'
import { closeAccess, openAccess } from '@cronce/operations'
import { addressOf, connect } from '@cronce/store'
import staticFiles from '@fastify/static'
import Fastify, { type FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { Access } from './access.ts'
import { addActionRoutes } from './action-routes.ts'
import { addChangeRoutes } from './change-routes.ts'
import { refuseConnection, refuseRequest } from './client-error.ts'
import { addConsoleRoutes } from './console-routes.ts'
import { errorAnswer } from './error-answer.ts'
import { guardRequests } from './guard.ts'
import { createConsoleMetrics } from './metrics.ts'
import type { ProxyOptions } from './proxy.ts'
import { addReadRoutes } from './read-routes.ts'
import { addRevealRoutes } from './reveal-routes.ts'
import { SECURITY_HEADERS } from './security-headers.ts'
import { addSessionRoutes } from './session-routes.ts'
import { createSignInLimit } from './sign-in-limit.ts'
import { addTriggerRoutes } from './trigger-routes.ts'
import type { TriggerSecrets } from './trigger-text.ts'

export interface HttpServerOptions {
  readonly redisUrl: string
  readonly service: string
  /** The release of this image, for its metrics. */
  readonly release: string
  readonly access: Access
  /** Undefined: identity headers mean nothing. */
  readonly proxy: ProxyOptions | undefined
  /** Addresses and networks of proxies: the client's address is the one that they forward. */
  readonly forwardedFrom: readonly string[]
  readonly sessionMs: number
  /** Empty: there is no signed trigger. */
  readonly triggerSecrets: TriggerSecrets
  readonly reach: 'loopback' | 'network'
  /** Who may read `/metrics`: where there are no tokens, a scraper of this machine needs none. */
  readonly metrics: 'public' | 'viewers'
  /** Where a trace is seen, with `{trace}` in place of its id; undefined: nowhere that the page could link to. */
  readonly traceUrl: string | undefined
  /** The folder of the built page. */
  readonly pageFolder: string
  readonly log: Logger
}

const LONGEST_BODY = 16 * 1024
const LONGEST_HEADERS = 16 * 1024
const REQUEST_WITHIN_MS = 10_000

/** Beyond it new ones are closed at once: each may hold a request's head and body in memory. */
const MOST_CONNECTIONS = 2_000

/** Ids carry encoded job names and entity keys of 512 bytes. */
const LONGEST_ID = 4_096

/** The console's HTTP server; closing it closes its connection to Redis. */
export async function createHttpServer(options: HttpServerOptions): Promise<FastifyInstance> {
  const { redisUrl, service, access, forwardedFrom, sessionMs, log } = options
  const redis = connect(redisUrl, 'producer')
  // ioredis tells every failed connection here; the command that fails tells it to us.
  redis.on('error', () => undefined)
  const target = openAccess({ redis, service, onFault: (error, what) => log.error({ err: error }, what) })
  const metrics = createConsoleMetrics(target, options.release)
  const app = Fastify({
    logger: false,
    // Whose word is taken for the client's address, of which wrong tokens are counted.
    trustProxy: forwardedFrom.length === 0 ? false : [...forwardedFrom],
    bodyLimit: LONGEST_BODY,
    requestTimeout: REQUEST_WITHIN_MS,
    connectionTimeout: 2 * REQUEST_WITHIN_MS,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: LONGEST_ID },
    http: {
      maxHeaderSize: LONGEST_HEADERS,
      headersTimeout: REQUEST_WITHIN_MS,
      // How often node looks for what is too slow; by default twice a minute.
      connectionsCheckingInterval: REQUEST_WITHIN_MS / 5,
    },
    clientErrorHandler: refuseConnection,
    // Paths that no router can read.
    frameworkErrors: (error, _, { raw }) => refuseRequest(error, raw),
  })
  app.server.maxConnections = MOST_CONNECTIONS
  // JSON alone: a form of another page can send plain text without asking first.
  app.removeContentTypeParser('text/plain')
  app.addHook('onRequest', async (request, reply) => {
    void reply.headers(SECURITY_HEADERS)
    if (request.url.startsWith('/api/') || request.url.startsWith('/login'))
      void reply.header('cache-control', 'no-store')
  })
  app.setErrorHandler(async (error, request, reply) => {
    const { status, body, kind, waitS } = errorAnswer(error, { redisAddress: addressOf(redis) })
    if (kind === 'unexpected') log.error({ err: error, method: request.method, url: request.url }, 'a request failed')
    if (waitS !== undefined) void reply.header('retry-after', waitS)
    return await reply.code(status).send(body)
  })
  app.setNotFoundHandler(async (request, reply) => {
    const reason = `there is no ${request.method} ${pathOf(request.url)}`
    const { body } = errorAnswer(new CronceError('CRONCE_CONSOLE_REQUEST', { reason }), { redisAddress: '' })
    return await reply.code(404).send(body)
  })
  const limit = createSignInLimit()
  guardRequests(app, { ...options, limit })
  addSessionRoutes(app, { access, limit, service, sessionMs })
  addReadRoutes(app, target, { traceUrl: options.traceUrl })
  addActionRoutes(app, target)
  addRevealRoutes(app, target)
  addChangeRoutes(app, target)
  addTriggerRoutes(app, { target, secrets: options.triggerSecrets, limit, clock: systemClock })
  addConsoleRoutes(app, { target, access, clock: systemClock })
  const isPublic = { config: { asks: 'public' } } as const
  app.get('/healthz', isPublic, () => ({ status: 'alive' }))
  app.get('/readyz', isPublic, async (_, reply) => {
    const isReached = await redis.ping().then(
      () => true,
      () => false,
    )
    if (isReached) return { status: 'ready' }
    return await reply.code(503).send({ status: 'not-ready', reason: 'Redis is out of reach' })
  })
  app.get('/metrics', options.metrics === 'public' ? isPublic : {}, async (_, reply) => {
    return await reply.type(metrics.contentType).send(await metrics.text())
  })
  // The page is no secret; everything it shows is.
  await app.register(async (page) => {
    page.addHook('onRoute', (route) => void (route.config = { ...route.config, ...isPublic.config }))
    await page.register(staticFiles, { root: options.pageFolder, wildcard: false, index: 'index.html' })
  })
  app.addHook('onClose', async () => {
    await closeAccess(target)
    redis.disconnect()
  })
  return app
}

function pathOf(url: string): string {
  return (url.split('?')[0] ?? '').slice(0, 200)
}
