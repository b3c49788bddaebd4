import { packageSource, repeatedPackages } from '@cronce/jobs/sources'
import { createMetrics, observeWorker } from '@cronce/metrics'
import { openTraces, runProcess, stopOnSignals, watchdogSettings } from '@cronce/process'
import { createWorker } from '@cronce/worker'
import { pino } from 'pino'
import { readWorkerConfig, type WorkerConfig } from './config.ts'
import { cacheRefreshHandler, dailyDigestHandler, packageReportHandler, settlementHandler } from './handlers/index.ts'
import { createHttpServer } from './http-server.ts'
import { openReceiptPool } from './receipt-pool.ts'
import { createReceiverClient, type ReceiverClient } from './receiver-client.ts'
import { openRedisProbe } from './redis-probe.ts'
import { startWorker } from './worker-start.ts'

/** Share of the time for a stop in which what runs may finish; the rest is for handing back. */
const FINISHING_SHARE = 0.6

/** The handlers of the jobs whose queues this process serves. */
function handlersFor(config: WorkerConfig, receiver: ReceiverClient) {
  const packages = repeatedPackages(packageSource, config.CRONCE_REPORT_PACKAGES)
  const all = [
    packageReportHandler(receiver, packages),
    ...[dailyDigestHandler, cacheRefreshHandler, settlementHandler].map((make) => make(receiver)),
  ]
  return all.filter(({ job }) => Object.hasOwn(config.CRONCE_QUEUES, job.queue))
}

async function run(config: WorkerConfig): Promise<void> {
  const log = pino({ level: config.LOG_LEVEL })
  const receiver = createReceiverClient(config.CRONCE_RECEIVER_URL)
  const probe = openRedisProbe(config.REDIS_URL)
  const receipts =
    config.POSTGRES_URL === undefined
      ? undefined
      : openReceiptPool(config.POSTGRES_URL, (error) => log.warn({ err: error }, 'a connection to Postgres broke'))
  const traces =
    config.CRONCE_OTLP_URL === undefined
      ? undefined
      : await openTraces({
          ...{ url: config.CRONCE_OTLP_URL, service: config.CRONCE_SERVICE, release: config.CRONCE_RELEASE },
          instance: config.CRONCE_WORKER_ID,
          onTrouble: (error) => log.warn({ err: error }, 'traces were not posted'),
        })
  const worker = createWorker({
    service: config.CRONCE_SERVICE,
    handlers: handlersFor(config, receiver),
    ...(receipts === undefined ? {} : { receipts: { postgres: receipts.adapter } }),
    redis: config.REDIS_URL,
    queues: config.CRONCE_QUEUES,
    logger: log,
    release: config.CRONCE_RELEASE,
    shutdownTimeout: Math.round(config.CRONCE_SHUTDOWN_TIMEOUT * FINISHING_SHARE),
    lock: config.CRONCE_LOCK,
    stalledEvery: config.CRONCE_STALLED_EVERY,
    receiptLease: config.CRONCE_RECEIPT_LEASE,
    sweepEvery: config.CRONCE_SWEEP_EVERY,
    crashLimit: config.CRONCE_CRASH_LIMIT,
    watchdog: { ...watchdogSettings(config), heartbeats: config.CRONCE_HEARTBEATS },
    ...(traces === undefined ? {} : { telemetry: traces.telemetry }),
    ...(config.CRONCE_WORKER_ID === undefined ? {} : { id: config.CRONCE_WORKER_ID }),
  })
  const metrics = createMetrics({ service: config.CRONCE_SERVICE, release: config.CRONCE_RELEASE })
  observeWorker(worker, metrics)
  const server = createHttpServer({
    health: () => worker.health(),
    schedules: () => worker.overdue(),
    metrics,
    probe,
    about: { service: config.CRONCE_SERVICE, release: config.CRONCE_RELEASE, worker: worker.id },
  })
  const stopping = new AbortController()
  let starting: Promise<unknown> = Promise.resolve()
  stopOnSignals({
    deadlineMs: config.CRONCE_SHUTDOWN_TIMEOUT,
    async stop(signal) {
      log.info({ signal }, 'stopping')
      stopping.abort()
      // A start that is under way would outlive a stop that came before its end.
      await starting
      await worker.stop()
      await server.close()
      probe.close()
      receiver.close()
      await receipts?.close()
      await traces?.close()
    },
    onForced: (reason, error) => log.error({ err: error }, `stopped by force: ${reason}`),
  })
  const url = await server.listen({ host: config.HOST, port: config.PORT })
  log.info({ url, worker: worker.id }, 'listening')
  const awaited = receipts === undefined ? 'Redis' : 'Redis or Postgres'
  const onRetry = (error: unknown) => log.warn({ err: error }, `${awaited} is out of reach; trying again`)
  starting = startWorker({ worker, prepare: receipts?.prepare, signal: stopping.signal, onRetry })
  await starting
}

await runProcess('worker', () => run(readWorkerConfig()))
