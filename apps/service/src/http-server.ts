import type { CronceMetrics } from '@cronce/metrics'
import type { ScheduleHealth } from '@cronce/watchdog'
import Fastify, { type FastifyInstance } from 'fastify'
import type { Readiness } from './readiness.ts'

export interface HttpServerOptions {
  readonly readiness: () => Readiness
  /** What of the whole service is overdue; rejects where Redis is out of reach. */
  readonly schedules: () => Promise<ScheduleHealth>
  readonly metrics: CronceMetrics
  /** What the service tells of itself at `/`. */
  readonly about: Readonly<Record<string, unknown>>
}

/**
 * The service's HTTP server; routes of its own go here. `/healthz` says that the process lives (restart it where it does
 * not answer), `/readyz` whether its trigger fires (503 where not: Redis is away, so a restart would not help), and
 * `/healthz/schedules` whether anything of the whole service is overdue (503 where it is: for a monitor, not for a probe).
 * `/metrics` is what this process counted, for Prometheus.
 */
export function createHttpServer({ readiness, schedules, metrics, about }: HttpServerOptions): FastifyInstance {
  const app = Fastify({ logger: false, forceCloseConnections: true })
  app.get('/', () => about)
  app.get('/healthz', () => ({ status: 'alive' }))
  app.get('/readyz', (_, reply) => {
    const answer = readiness()
    return reply.code(answer.status === 'ready' ? 200 : 503).send(answer)
  })
  app.get('/healthz/schedules', async (_, reply) => {
    const answer = await schedules().catch(() => ({
      status: 'unknown' as const,
      reason: 'Redis is out of reach, or this process has not started',
    }))
    return await reply.code(answer.status === 'ok' ? 200 : 503).send(answer)
  })
  app.get('/metrics', async (_, reply) => await reply.type(metrics.contentType).send(await metrics.text()))
  return app
}
