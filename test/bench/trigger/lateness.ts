import { defineJob, every, systemClock } from '@cronce/core'
import { createTrigger } from '@cronce/trigger'
import { createWorker, handle } from '@cronce/worker'
import { Queue, Worker } from 'bullmq'
import { Redis } from 'ioredis'
import { pino } from 'pino'
import { startRedis, waitUntil } from '../../support/index.ts'
import { quantile, tenth } from './median.ts'

interface Quantiles {
  readonly p50: number
  readonly p99: number
}

export interface LatenessResult {
  readonly hz: number
  readonly cronceMs: Quantiles
  readonly bullmqMs: Quantiles
  /** Ours over theirs. */
  readonly ratioP50: number
}

const logger = pino({ level: 'silent' })

/**
 * A job that fires every second on each, at the same time, each on a Redis of its own: traffic of one would wake the other's
 * blocked clients. From the nominal second to the handler's start.
 */
export async function measureLateness({ hz, seconds }: { hz: number; seconds: number }): Promise<LatenessResult> {
  const [ourRedis, theirRedis] = await Promise.all([startRedis({ hz }), startRedis({ hz })])
  const ours: number[] = []
  const theirs: number[] = []
  const stopOurs = await startCronce(ourRedis.url, ours)
  const stopTheirs = await startBullmq(theirRedis.url, theirs)
  const enough = () => ours.length > seconds && theirs.length > seconds
  await waitUntil(enough, { message: `${seconds} slots on both sides`, timeoutMs: seconds * 2_000 + 20_000 })
  await Promise.all([stopOurs(), stopTheirs()])
  await Promise.all([ourRedis.stop(), theirRedis.stop()])
  // The first slot of each pays for what is loaded and connected then.
  const cronceMs = quantiles(ours.slice(1))
  const bullmqMs = quantiles(theirs.slice(1))
  return { hz, cronceMs, bullmqMs, ratioP50: Math.round((cronceMs.p50 / bullmqMs.p50) * 100) / 100 }
}

function quantiles(values: readonly number[]): Quantiles {
  return { p50: tenth(quantile(values, 0.5)), p99: tenth(quantile(values, 0.99)) }
}

async function startCronce(url: string, late: number[]): Promise<() => Promise<void>> {
  const job = defineJob({ name: 'tick', schedule: every('1s'), onCrash: 'complete', overlap: 'allow' })
  const handlers = [handle(job, { each: (_, { slot }) => void late.push(systemClock.now() - slot.at) })]
  const worker = createWorker({ service: 'late', handlers, redis: url, queues: { default: 10 }, logger })
  const trigger = createTrigger({ service: 'late', jobs: [job], redis: url, logger })
  await worker.start()
  await trigger.start()
  return async () => {
    await trigger.stop()
    await worker.stop()
  }
}

async function startBullmq(url: string, late: number[]): Promise<() => Promise<void>> {
  const connection = new Redis(url, { maxRetriesPerRequest: null })
  const queue = new Queue('ticks', { connection })
  const worker = new Worker('ticks', async () => void late.push(systemClock.now() % 1_000), {
    connection,
    concurrency: 10,
  })
  await worker.waitUntilReady()
  await queue.upsertJobScheduler('tick', { pattern: '* * * * * *' })
  return async () => {
    await worker.close()
    await queue.close()
    connection.disconnect()
  }
}
