import { connect } from '@cronce/store'
import { Queue } from 'bullmq'
import { spawnProcess, startRedis, waitUntil } from '../../support/index.ts'
import { accountAt } from './accounts.ts'
import { cpuMs, redisUse, rssBytes } from './machine-use.ts'
import { LOOK_EVERY_MS, type Side, WORKERS } from './side.ts'

/** Jobs per addBulk. */
const BULK = 1_000

const QUEUE = 'accounts'

/** Plain BullMQ: one job per entity, added in bulk from this process, removed when it is done. */
export async function openRawSide(): Promise<Side> {
  const server = await startRedis()
  const redis = connect(server.url, 'consumer')
  const queue = new Queue(QUEUE, { connection: redis })
  const workers = await Promise.all(
    Array.from({ length: WORKERS }, () =>
      spawnProcess({ file: new URL('raw-worker.ts', import.meta.url), args: [server.url, QUEUE], ready: 'ready' }),
    ),
  )
  const { pid } = await redisUse(redis)
  const pids = [process.pid, pid, ...workers.map((worker) => worker.pid)]

  async function add(entities: number): Promise<void> {
    for (let from = 0; from < entities; from += BULK) {
      const length = Math.min(BULK, entities - from)
      const jobs = Array.from({ length }, (_, index) => ({
        name: 'account',
        data: accountAt(from + index),
        opts: { removeOnComplete: true },
      }))
      await queue.addBulk(jobs)
    }
  }

  return {
    async run(entities) {
      const [startedAt, cpuBefore] = [performance.now(), cpuMs(pids)]
      await add(entities)
      const isDone = async () => {
        const counts = await queue.getJobCounts('wait', 'active')
        return counts['wait'] === 0 && counts['active'] === 0
      }
      await waitUntil(isDone, { message: 'the last raw job', timeoutMs: 600_000, everyMs: LOOK_EVERY_MS })
      return { entities, tookMs: performance.now() - startedAt, cpuMs: cpuMs(pids) - cpuBefore }
    },
    async peak() {
      const { peakBytes } = await redisUse(redis)
      return { redisBytes: peakBytes, rssBytes: Math.max(...workers.map((worker) => rssBytes(worker.pid).peak)) }
    },
    async close() {
      await Promise.all(workers.map((worker) => worker.kill()))
      await queue.close()
      redis.disconnect()
      await server.stop()
    },
  }
}
