import type { CronceMetrics } from '@cronce/metrics'
import type { ScheduleHealth } from '@cronce/watchdog'
import type { WorkerHealth } from '@cronce/worker'
import Fastify, { type FastifyInstance } from 'fastify'
import type { RedisProbe } from './redis-probe.ts'

export interface HttpServerOptions {
  readonly health: () => WorkerHealth
  readonly probe: RedisProbe
  /** What of the whole service is overdue; rejects where Redis is out of reach. */
  readonly schedules: () => Promise<ScheduleHealth>
  readonly metrics: CronceMetrics
  /** What the worker tells of itself at `/`. */
  readonly about: Readonly<Record<string, unknown>>
}

/**
 * The worker's HTTP server. `/healthz` says that the process lives (restart it where it does not answer), `/readyz`
 * whether it takes tasks (503 where not: Redis is away, so a restart would not help), and
 * `/healthz/schedules` whether anything of the whole service is overdue (503 where it is: for a monitor, not for a probe).
 * `/metrics` is what this process counted, for Prometheus.
 */
export function createHttpServer({ health, schedules, metrics, probe, about }: HttpServerOptions): FastifyInstance {
  const app = Fastify({ logger: false, forceCloseConnections: true })
  app.get('/', () => ({ ...about, ...health() }))
  app.get('/healthz', () => ({ status: 'alive' }))
  app.get('/readyz', async (_, reply) => {
    const { state } = health()
    const reason =
      state === 'running' ? ((await probe.ask()) === 'there' ? '' : 'Redis is out of reach') : `the worker is ${state}`
    return await reply
      .code(reason === '' ? 200 : 503)
      .send(reason === '' ? { status: 'ready' } : { status: 'not-ready', reason })
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
