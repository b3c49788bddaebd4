import { systemClock } from '@cronce/core'
import { jobs } from '@cronce/jobs'
import { createMetrics, observeTrigger } from '@cronce/metrics'
import { openTraces, runProcess, stopOnSignals, watchdogSettings } from '@cronce/process'
import { createTrigger } from '@cronce/trigger'
import { pino } from 'pino'
import { readServiceConfig, type ServiceConfig } from './config.ts'
import { createHttpServer } from './http-server.ts'
import { readinessOf } from './readiness.ts'
import { startTrigger } from './trigger-start.ts'

/** Sweeps come at least this often where nothing is due; two missed ones and a bit are a stall. */
const stalledAfterMs = (sweepEveryMs: number) => 2 * sweepEveryMs + 5_000

async function run(config: ServiceConfig): Promise<void> {
  const log = pino({ level: config.LOG_LEVEL })
  const clock = systemClock
  const traces =
    config.CRONCE_OTLP_URL === undefined
      ? undefined
      : await openTraces({
          ...{ url: config.CRONCE_OTLP_URL, service: config.CRONCE_SERVICE, release: config.CRONCE_RELEASE },
          instance: config.CRONCE_REPLICA_ID,
          onTrouble: (error) => log.warn({ err: error }, 'traces were not posted'),
        })
  const trigger = createTrigger({
    service: config.CRONCE_SERVICE,
    jobs,
    redis: config.REDIS_URL,
    logger: log,
    release: config.CRONCE_RELEASE,
    claimLease: config.CRONCE_CLAIM_LEASE,
    sweepEvery: config.CRONCE_SWEEP_EVERY,
    clock,
    watchdog: watchdogSettings(config),
    ...(traces === undefined ? {} : { telemetry: traces.telemetry }),
    ...(config.CRONCE_REPLICA_ID === undefined ? {} : { id: config.CRONCE_REPLICA_ID }),
  })
  const metrics = createMetrics({ service: config.CRONCE_SERVICE, release: config.CRONCE_RELEASE })
  observeTrigger(trigger, metrics)
  const facts = () => ({
    health: trigger.health(),
    now: clock.now(),
    stalledAfterMs: stalledAfterMs(config.CRONCE_SWEEP_EVERY),
  })
  const server = createHttpServer({
    readiness: () => readinessOf(facts()),
    schedules: () => trigger.overdue(),
    metrics,
    about: { service: config.CRONCE_SERVICE, release: config.CRONCE_RELEASE, replica: trigger.id },
  })
  const stopping = new AbortController()
  let starting: Promise<unknown> = Promise.resolve()
  stopOnSignals({
    deadlineMs: config.CRONCE_SHUTDOWN_TIMEOUT,
    async stop(signal) {
      log.info({ signal }, 'stopping')
      stopping.abort()
      await server.close()
      // A start that is under way would outlive a stop that came before its end.
      await starting
      await trigger.stop()
      await traces?.close()
    },
    onForced: (reason, error) => log.error({ err: error }, `stopped by force: ${reason}`),
  })
  const url = await server.listen({ host: config.HOST, port: config.PORT })
  log.info({ url, replica: trigger.id }, 'listening')
  const onRetry = (error: unknown) => log.warn({ err: error }, 'Redis is out of reach; trying again')
  starting = startTrigger({ trigger, signal: stopping.signal, onRetry })
  await starting
}

await runProcess('service', () => run(readServiceConfig()))
