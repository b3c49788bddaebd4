import Fastify, { type FastifyInstance } from 'fastify'
import type { Readiness } from './readiness.ts'

export interface HttpServerOptions {
  readonly readiness: () => Readiness
  /** What the service tells of itself at `/`. */
  readonly about: Readonly<Record<string, unknown>>
}

/**
 * The service's HTTP server; routes of its own go here. `/healthz` says that the process lives (restart it where it does
 * not answer), `/readyz` whether its trigger fires (503 where not: Redis is away, so a restart would not help).
 */
export function createHttpServer({ readiness, about }: HttpServerOptions): FastifyInstance {
  const app = Fastify({ logger: false, forceCloseConnections: true })
  app.get('/', () => about)
  app.get('/healthz', () => ({ status: 'alive' }))
  app.get('/readyz', (_, reply) => {
    const answer = readiness()
    return reply.code(answer.status === 'ready' ? 200 : 503).send(answer)
  })
  return app
}
