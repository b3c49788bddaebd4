import { cron, defineJob } from '@cronce/core'
import { createTrigger } from '@cronce/trigger'
import { pino } from 'pino'
import { startRedis, waitUntil } from '../../support/index.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { countedRedis } from './counted-redis.ts'
import { tenth } from './median.ts'

const MINUTES = 58

/** Commands a minute of one idle replica with 100 hourly jobs: its loop runs over the 58 virtual minutes between two slots. */
export async function measureIdle(): Promise<number> {
  const redis = await startRedis()
  const clock = manualClock(Date.UTC(2026, 5, 1, 12, 1))
  const counted = countedRedis(redis.url)
  const jobs = Array.from({ length: 100 }, (_, index) =>
    defineJob({ name: `hourly-${index}`, schedule: cron('0 * * * *'), onCrash: 'complete', overlap: 'allow' }),
  )
  const trigger = createTrigger({
    service: 'idle',
    jobs,
    redis: counted.open,
    clock,
    time: 'clock',
    logger: pino({ level: 'silent' }),
  })
  await trigger.start()
  counted.take()
  const endsAt = clock.now() + MINUTES * 60_000
  while (clock.now() < endsAt) {
    clock.advance(1_000)
    await waitUntil(() => clock.armed > 0, { message: 'the loop is asleep again', everyMs: 1 })
  }
  const commands = counted.take()
  await trigger.stop()
  await redis.stop()
  return tenth(commands / MINUTES)
}
