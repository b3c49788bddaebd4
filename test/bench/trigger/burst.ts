import { cron, defineJob } from '@cronce/core'
import { Queue } from 'bullmq'
import { createFleet } from '../../support/fleet.ts'
import { startRedis } from '../../support/index.ts'
import { median, tenth } from './median.ts'

export interface BurstResult {
  /** From the tick to the last job on the queue, median. */
  readonly cronceMs: number
  readonly addBulkMs: number
  /** Median of the ratios, pair by pair. */
  readonly ratio: number
}

const JOBS = 1_000
const ROUNDS = 7
const WARM_UP = 2

/** 1,000 jobs due in the same second, in turns with one raw addBulk of 1,000 jobs with ids and data of the same kind. */
export async function measureBurst(): Promise<BurstResult> {
  const redis = await startRedis()
  const fleet = createFleet({ url: redis.url, service: 'burst' })
  const jobs = Array.from({ length: JOBS }, (_, index) =>
    defineJob({ name: `job-${index}`, schedule: cron('* * * * *'), onCrash: 'complete', overlap: 'allow' }),
  )
  const trigger = await fleet.join('a', jobs)
  const raw = new Queue('raw', { connection: fleet.redis })
  const pairs: { cronce: number; raw: number }[] = []
  for (let round = 0; round < ROUNDS + WARM_UP; round++) {
    const rawMs = await addBulk(raw, round)
    fleet.clock.advance(60_000)
    const startedAt = performance.now()
    let addedAt = startedAt
    const stop = trigger.events.on('slot.added', () => {
      addedAt = performance.now()
    })
    await trigger.tick()
    stop()
    if (round >= WARM_UP) pairs.push({ cronce: addedAt - startedAt, raw: rawMs })
  }
  await raw.close()
  await fleet.close()
  await redis.stop()
  return {
    cronceMs: tenth(median(pairs.map(({ cronce }) => cronce))),
    addBulkMs: tenth(median(pairs.map((pair) => pair.raw))),
    ratio: Math.round(median(pairs.map((pair) => pair.cronce / pair.raw)) * 100) / 100,
  }
}

async function addBulk(queue: Queue, round: number): Promise<number> {
  const jobs = Array.from({ length: JOBS }, (_, index) => ({
    name: 'plan',
    data: { job: `job-${index}`, id: `round-${round}`, number: 0, version: 1 },
    opts: { jobId: `job-${index}@${round}`, removeOnComplete: true, removeOnFail: true },
  }))
  const startedAt = performance.now()
  await queue.addBulk(jobs)
  return performance.now() - startedAt
}
